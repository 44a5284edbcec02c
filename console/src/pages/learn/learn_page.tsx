// Learn: the ideas of differential privacy one after another, each with a picture that moves.
import { useEffect } from "preact/hooks";
import { PageHead } from "../../ui/panel";
import { steps } from "./steps";

export function LearnPage({ step: wanted }: { step: string }) {
  const index = Math.max(0, steps.findIndex((step) => step.id === wanted));
  const step = steps[index]!;
  const [previous, next] = [steps[index - 1], steps[index + 1]];
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.target instanceof HTMLInputElement || event.altKey || event.ctrlKey || event.metaKey) return;
      const to = event.key === "ArrowRight" ? next : event.key === "ArrowLeft" ? previous : undefined;
      if (to) location.hash = `#/learn/${to.id}`;
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [next, previous]);
  const Demonstration = step.show;
  return (
    <div class="page">
      <PageHead title="Learn">The ideas one after another, each with something to move. Nothing here touches the data or costs anything.</PageHead>
      <nav class="learn-steps" aria-label="Steps">
        <ol>
          {steps.map((one, i) => (
            <li key={one.id}><a href={`#/learn/${one.id}`} {...(one === step ? { "aria-current": "step" as const } : {})}><span class="learn-number">{i + 1}</span>{one.title}</a></li>
          ))}
        </ol>
      </nav>
      <article class="panel learn-step" aria-labelledby="learn-title">
        <h2 id="learn-title">{step.title}</h2>
        <div class="learn-text">{step.text}</div>
        <Demonstration key={step.id} />
        {step.command && <p class="learn-command small"><span class="quiet">At the command line</span><code>{step.command}</code></p>}
      </article>
      <div class="spread">
        {previous ? <a class="button" href={`#/learn/${previous.id}`}>← {previous.title}</a> : <span />}
        {next ? <a class="button button-main" href={`#/learn/${next.id}`}>{next.title} →</a> : <a class="button button-main" href="#/lab">On to the Lab →</a>}
      </div>
    </div>
  );
}
