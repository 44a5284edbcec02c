// Charges as rows: when, who, what was asked, what it cost, and a way to its certificate.
import type { LedgerEvent } from "../../api/types";
import { formatDelta, formatEpsilon, formatTime } from "../../logic/format";

export function ChargeTable({ charges, onShow }: { charges: LedgerEvent[]; onShow: (event: LedgerEvent) => void }) {
  return (
    <div class="table-wrap" tabIndex={0} role="group" aria-label="Charges">
      <table>
        <thead>
          <tr><th scope="col" class="right">No.</th><th scope="col">When</th><th scope="col">Account</th><th scope="col">Question</th><th scope="col" class="right">ε</th><th scope="col" class="right">δ</th><th scope="col"><span class="hidden-visually">Certificate</span></th></tr>
        </thead>
        <tbody>
          {charges.map((charge) => (
            <tr key={charge.sequence}>
              <td class="right number quiet">{charge.sequence}</td>
              <td class="nowrap">{formatTime(charge.time)}</td>
              <td>{charge.account}</td>
              <td class="statement"><code>{charge.statement ?? "not recorded"}</code></td>
              <td class="right number">{charge.cost ? formatEpsilon(charge.cost.epsilon) : "–"}</td>
              <td class="right number">{charge.cost ? formatDelta(charge.cost.delta) : "–"}</td>
              <td class="right"><button type="button" class="button button-small button-bare" onClick={() => onShow(charge)}>Certificate<span class="hidden-visually"> of charge {charge.sequence}</span></button></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
