//! CPU time of libprio-rs for the steps that bench/prio.cc measures: one JSON object a line, microseconds a report.
use prio::codec::Encode;
use prio::vdaf::prio3::{optimal_chunk_length, Prio3, Prio3Count, Prio3Histogram, Prio3Sum, Prio3SumVec};
use prio::vdaf::{Aggregatable, Aggregator, Client, VerifyTransition};
use std::hint::black_box;

fn cpu_seconds() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// The best of several batches, each long enough for the clock.
fn measure(name: &str, stage: &str, mut body: impl FnMut()) {
    let mut batch = 1u64;
    let mut best = f64::INFINITY;
    let begun = cpu_seconds();
    while cpu_seconds() - begun < 0.4 {
        let start = cpu_seconds();
        for _ in 0..batch {
            body();
        }
        let spent = cpu_seconds() - start;
        if spent < 0.02 {
            batch *= 2;
        } else {
            best = best.min(spent / batch as f64);
        }
    }
    println!("{{\"case\":\"{name}\",\"stage\":\"{stage}\",\"us\":{:.4}}}", best * 1e6);
}

macro_rules! flow {
    ($name:expr, $vdaf:expr, $measurement:expr) => {{
        let vdaf = $vdaf;
        let measurement = $measurement;
        let (ctx, key, nonce) = (b"bench", [7u8; 32], [9u8; 16]);
        measure($name, "shard", || {
            black_box(vdaf.shard(ctx, &measurement, &nonce).unwrap());
        });
        let (public, inputs) = vdaf.shard(ctx, &measurement, &nonce).unwrap();
        for (server, stage) in [(0, "verify_init_leader"), (1, "verify_init_helper")] {
            measure($name, stage, || {
                black_box(vdaf.verify_init(&key, ctx, server, &(), &nonce, &public, &inputs[server]).unwrap());
            });
        }
        let (_, share0) = vdaf.verify_init(&key, ctx, 0, &(), &nonce, &public, &inputs[0]).unwrap();
        let (state1, share1) = vdaf.verify_init(&key, ctx, 1, &(), &nonce, &public, &inputs[1]).unwrap();
        measure($name, "shares_to_message", || {
            black_box(
                vdaf.verifier_shares_to_message(ctx, &(), [share0.clone(), share1.clone()])
                    .unwrap(),
            );
        });
        let message = vdaf
            .verifier_shares_to_message(ctx, &(), [share0.clone(), share1.clone()])
            .unwrap();
        measure($name, "verify_next_helper", || {
            black_box(vdaf.verify_next(ctx, state1.clone(), message.clone()).unwrap());
        });
        let out = match vdaf.verify_next(ctx, state1.clone(), message.clone()).unwrap() {
            VerifyTransition::Finish(out) => out,
            _ => unreachable!(),
        };
        let mut sum = vdaf.aggregate_init(&());
        measure($name, "aggregate", || {
            sum.accumulate(&out).unwrap();
        });
        black_box(sum.get_encoded().unwrap());
    }};
}

fn main() {
    let chunk = optimal_chunk_length(1000);
    flow!("Count", Prio3Count::new_count(2).unwrap(), true);
    flow!("Sum32", Prio3Sum::new_sum(2, 0xffff_ffff).unwrap(), 123_456_789);
    flow!("SumVec1000", Prio3SumVec::new_sum_vec(2, 1, 1000, chunk).unwrap(), vec![1u128; 1000]);
    flow!("Histogram1000", Prio3Histogram::new_histogram(2, 1000, chunk).unwrap(), 500);
    noise();
}

/// Noise for one batch of a histogram of 1000 buckets.
fn noise() {
    use prio::dp::distributions::PureDpDiscreteLaplace;
    use prio::dp::{DifferentialPrivacyStrategy, PureDpBudget, Rational};
    use prio::vdaf::AggregatorWithNoise;
    let vdaf = Prio3::new_histogram(2, 1000, optimal_chunk_length(1000)).unwrap();
    let strategy = PureDpDiscreteLaplace::from_budget(
        PureDpBudget::new(Rational::from_unsigned(1u8, 1u8).unwrap()).unwrap(),
    );
    let mut share = vdaf.aggregate_init(&());
    measure("Histogram1000", "noise", || {
        vdaf.add_noise_to_agg_share(&strategy, &(), &mut share, 1).unwrap();
    });
}
