// Lab: see why exact answers give people away and private ones do not. Everything happens in the browser,
// on people who do not exist; nothing is asked of the server and nothing is spent.
import { PageHead } from "../../ui/panel";
import { AveragingLab } from "./averaging_lab";
import { DifferencingLab } from "./differencing_lab";
import { NoiseLab } from "./noise_lab";
import { ReconstructionLab } from "./reconstruction_lab";
import { ResponseLab } from "./response_lab";

const sections = [
  { id: "noise", title: "Noise against epsilon" },
  { id: "response", title: "Randomized response" },
  { id: "differencing", title: "Differencing" },
  { id: "averaging", title: "Averaging" },
  { id: "reconstruction", title: "Reconstruction" },
];

export function LabPage() {
  const show = (id: string) => (event: Event) => {
    event.preventDefault();
    const section = document.getElementById(`lab-${id}`);
    section?.scrollIntoView({ block: "start" });
    section?.focus({ preventScroll: true });
  };
  return (
    <div class="page">
      <PageHead title="Lab">Break exact answers, then fail against private ones. These people are made up, it all runs in your browser, and nothing is spent.</PageHead>
      <nav class="row lab-nav" aria-label="Experiments">
        {sections.map(({ id, title }) => <a key={id} class="chip" href="#/lab" onClick={show(id)}>{title}</a>)}
      </nav>
      <NoiseLab />
      <ResponseLab />
      <DifferencingLab />
      <AveragingLab />
      <ReconstructionLab />
    </div>
  );
}
