import { useState } from "preact/hooks";
import { shareAll, totals } from "../../learn/shares";
import { formatNumber } from "../../logic/format";
import { Slider } from "../../ui/field";
import { DiceIcon } from "../../ui/icons";
import { Demonstration } from "./demonstration";

const names = ["Ada", "Ben", "Cleo", "Dov", "Esme"];

export function SharesStep() {
  const [values, setValues] = useState([3, 7, 10, 0, 5]);
  const [cheats, setCheats] = useState(false);
  const [seed, setSeed] = useState(1);
  const shared = shareAll(values.map((value, i) => (cheats && i === 4 ? 500 : value)), 10, seed);
  const sum = totals(shared);
  return (
    <Demonstration
      controls={<>
        {names.map((name, i) => (
          <Slider key={name} label={name} value={values[i]!} low={0} high={10} show={String} onValue={(value) => setValues(values.map((old, j) => (j === i ? value : old)))} />
        ))}
        <label class="row small"><input type="checkbox" checked={cheats} onChange={(event) => setCheats(event.currentTarget.checked)} /> Esme cheats and sends 500</label>
        <div><button type="button" class="button" onClick={() => setSeed(seed + 1)}><DiceIcon />Split again</button></div>
      </>}
      readings={[
        { label: "first server's total", value: formatNumber(sum.first), tone: "price" },
        { label: "second server's total", value: formatNumber(sum.second), tone: "value" },
        { label: "together, modulo 1009", value: formatNumber(sum.sum), tone: "good" },
      ]}>
      <div class="table-wrap">
        <table>
          <thead><tr><th scope="col">Who</th><th scope="col" class="right">Number (secret)</th><th scope="col" class="right">First server sees</th><th scope="col" class="right">Second server sees</th><th scope="col">Proof</th></tr></thead>
          <tbody>
            {shared.map((one, i) => (
              <tr key={names[i]}>
                <td>{names[i]}</td><td class="right number quiet">{one.value}</td>
                <td class="right number tone-price">{formatNumber(one.first)}</td><td class="right number tone-value">{formatNumber(one.second)}</td>
                <td>{one.accepted ? <span class="chip chip-good">0 to 10</span> : <span class="chip chip-danger">refused</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Demonstration>
  );
}
