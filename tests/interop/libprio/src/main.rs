//! libprio-rs behind a line protocol, for interop_test.cc: one command a line on stdin, one answer a line on stdout.
//!
//!   shard NUMBERS                          NONCE PUBLIC INPUT0 INPUT1
//!   take NONCE PUBLIC INPUT0 INPUT1        ok | refused          (both servers are libprio-rs)
//!   total                                  NUMBERS
//!   leader NONCE PUBLIC INPUT0             MESSAGE               (ping-pong, state is kept)
//!   finish MESSAGE                         OUT_SHARE | refused
//!   helper NONCE PUBLIC INPUT1 MESSAGE     MESSAGE OUT_SHARE | refused
//!
//! Byte strings are hexadecimal, `-` where empty; numbers are separated by commas.
use prio::codec::{Decode, Encode, ParameterizedDecode};
use prio::field::{Field128, Field64};
use prio::flp::gadgets::{Mul, ParallelSum};
use prio::flp::types::L1BoundSum;
use prio::flp::Type;
use prio::topology::ping_pong::PingPongMessage;
use prio::vdaf::prio3::{
    Prio3, Prio3Count, Prio3Histogram, Prio3InputShare, Prio3MultihotCountVec, Prio3PublicShare, Prio3Sum,
    Prio3SumVec,
};
use prio::vdaf::xof::XofTurboShake128;
use prio::vdaf::{Aggregatable, Aggregator, Client, Collector, VerifyTransition};
use std::io::{BufRead, Write};

const CONTEXT: &[u8] = b"interop";
const KEY: [u8; 32] = [42; 32];

fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "-".into();
    }
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
fn unhex(text: &str) -> Vec<u8> {
    if text == "-" {
        return vec![];
    }
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}
fn numbers(text: &str) -> Vec<u128> {
    text.split(',').map(|n| n.parse().unwrap()).collect()
}

type Vdaf<T> = Prio3<T, XofTurboShake128, 32>;
type AnyError = Box<dyn std::error::Error>;

struct Peer<T: Type> {
    vdaf: Vdaf<T>,
    measurement: fn(&[u128]) -> T::Measurement,
    show: fn(&T::AggregateResult) -> String,
}

impl<T: Type> Peer<T>
where
    T::Field: prio::field::FieldElement,
{
    fn public(&self, text: &str) -> Result<Prio3PublicShare<32>, AnyError> {
        Ok(Prio3PublicShare::get_decoded_with_param(&self.vdaf, &unhex(text))?)
    }
    fn input(&self, server: usize, text: &str) -> Result<Prio3InputShare<T::Field, 32>, AnyError> {
        Ok(Prio3InputShare::get_decoded_with_param(&(&self.vdaf, server), &unhex(text))?)
    }
    fn init(
        &self, server: usize, words: &[&str],
    ) -> Result<
        (<Vdaf<T> as Aggregator<32, 16>>::VerifyState, <Vdaf<T> as Aggregator<32, 16>>::VerifierShare),
        AnyError,
    > {
        let nonce: [u8; 16] = unhex(words[0]).try_into().unwrap();
        let public = self.public(words[1])?;
        let input = self.input(server, words[2])?;
        Ok(self.vdaf.verify_init(&KEY, CONTEXT, server, &(), &nonce, &public, &input)?)
    }
    fn next(
        &self, state: <Vdaf<T> as Aggregator<32, 16>>::VerifyState,
        message: <Vdaf<T> as Aggregator<32, 16>>::VerifierMessage,
    ) -> Result<<Vdaf<T> as prio::vdaf::Vdaf>::OutputShare, AnyError> {
        match self.vdaf.verify_next(CONTEXT, state, message)? {
            VerifyTransition::Finish(out) => Ok(out),
            _ => Err("more rounds than Prio3 has".into()),
        }
    }

    fn run(&self) {
        let mut sums = [self.vdaf.aggregate_init(&()), self.vdaf.aggregate_init(&())];
        let mut count = 0usize;
        let mut waiting = None;
        for line in std::io::stdin().lock().lines() {
            let line = line.unwrap();
            let words: Vec<&str> = line.split(' ').collect();
            let answer: Result<String, AnyError> = (|| match words[0] {
                "shard" => {
                    let nonce: [u8; 16] = std::array::from_fn(|i| (count * 16 + i) as u8);
                    count += 1;
                    let measurement = (self.measurement)(&numbers(words[1]));
                    let (public, inputs) = self.vdaf.shard(CONTEXT, &measurement, &nonce)?;
                    Ok(format!(
                        "{} {} {} {}",
                        hex(&nonce),
                        hex(&public.get_encoded()?),
                        hex(&inputs[0].get_encoded()?),
                        hex(&inputs[1].get_encoded()?)
                    ))
                }
                "take" => {
                    let (state0, share0) = self.init(0, &[words[1], words[2], words[3]])?;
                    let (state1, share1) = self.init(1, &[words[1], words[2], words[4]])?;
                    let message = self.vdaf.verifier_shares_to_message(CONTEXT, &(), [share0, share1])?;
                    let outs = [self.next(state0, message.clone())?, self.next(state1, message)?];
                    for (sum, out) in sums.iter_mut().zip(outs) {
                        sum.accumulate(&out)?;
                    }
                    count += 1;
                    Ok("ok".into())
                }
                "total" => {
                    let result = self.vdaf.unshard(&(), sums.clone(), count);
                    Ok((self.show)(&result?))
                }
                "leader" => {
                    let (state, share) = self.init(0, &words[1..4])?;
                    waiting = Some(state);
                    let message = PingPongMessage::Initialize { verifier_share: share.get_encoded()? };
                    Ok(hex(&message.get_encoded()?))
                }
                "finish" => {
                    let state = waiting.take().ok_or("nothing waits")?;
                    let PingPongMessage::Finish { verifier_message } =
                        PingPongMessage::get_decoded(&unhex(words[1]))?
                    else {
                        return Err("not a finish message".into());
                    };
                    let message =
                        ParameterizedDecode::get_decoded_with_param(&state, &verifier_message)?;
                    Ok(hex(&self.next(state, message)?.get_encoded()?))
                }
                "helper" => {
                    let (state, share) = self.init(1, &words[1..4])?;
                    let PingPongMessage::Initialize { verifier_share } =
                        PingPongMessage::get_decoded(&unhex(words[4]))?
                    else {
                        return Err("not an initialise message".into());
                    };
                    let other = ParameterizedDecode::get_decoded_with_param(&state, &verifier_share)?;
                    let message = self.vdaf.verifier_shares_to_message(CONTEXT, &(), [other, share])?;
                    let encoded = PingPongMessage::Finish { verifier_message: message.get_encoded()? };
                    let out = self.next(state, message)?;
                    Ok(format!("{} {}", hex(&encoded.get_encoded()?), hex(&out.get_encoded()?)))
                }
                other => Err(format!("unknown command {other}").into()),
            })();
            let text = answer.unwrap_or_else(|error| {
                eprintln!("libprio-rs: {error}");
                "refused".into()
            });
            println!("{text}");
            std::io::stdout().flush().unwrap();
        }
    }
}

fn join<N: ToString>(numbers: &[N]) -> String {
    numbers.iter().map(|n| n.to_string()).collect::<Vec<_>>().join(",")
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let n = |i: usize| words[i].parse::<usize>().unwrap();
    let big = |i: usize| words[i].parse::<u128>().unwrap();
    match words[0].as_str() {
        "count" => Peer { vdaf: Prio3Count::new_count(2).unwrap(), measurement: |m| m[0] == 1, show: |r| r.to_string() }
            .run(),
        "sum" => Peer {
            vdaf: Prio3Sum::new_sum(2, n(2) as u64).unwrap(),
            measurement: |m| m[0] as u64,
            show: |r| r.to_string(),
        }
        .run(),
        "sum-vec" => Peer {
            vdaf: Prio3SumVec::new_sum_vec(2, big(2), n(1), n(3)).unwrap(),
            measurement: |m| m.to_vec(),
            show: |r| join(r),
        }
        .run(),
        "histogram" => Peer {
            vdaf: Prio3Histogram::new_histogram(2, n(1), n(3)).unwrap(),
            measurement: |m| m[0] as usize,
            show: |r| join(r),
        }
        .run(),
        "multihot-count-vec" => Peer {
            vdaf: Prio3MultihotCountVec::new_multihot_count_vec(2, n(1), n(2), n(3)).unwrap(),
            measurement: |m| m.iter().map(|x| *x == 1).collect(),
            show: |r| join(r),
        }
        .run(),
        "l1-bound-sum" => Peer {
            vdaf: Prio3::new(
                2,
                1,
                7,
                L1BoundSum::<Field128, ParallelSum<Field128, Mul>>::new(big(2), n(1), n(3)).unwrap(),
            )
            .unwrap(),
            measurement: |m| m.to_vec(),
            show: |r| join(r),
        }
        .run(),
        "sum-vec-multiproof" => Peer {
            vdaf: Prio3::new(
                2,
                3,
                0xffff_ffff,
                prio::flp::types::SumVec::<Field64, ParallelSum<Field64, Mul>>::new(n(2) as u64, n(1), n(3)).unwrap(),
            )
            .unwrap(),
            measurement: |m| m.iter().map(|x| *x as u64).collect(),
            show: |r| join(r),
        }
        .run(),
        other => panic!("unknown circuit {other}"),
    }
}
