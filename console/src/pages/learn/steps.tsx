// The steps of the Learn page, in the order in which one idea leads to the next.
import type { ComponentChildren, FunctionComponent } from "preact";
import { ChoiceStep } from "./choice_step";
import { CompositionStep, GroupStep, LocalStep, ManyCountsStep, PriorStep, SamplingStep } from "./curve_steps";
import { SharesStep } from "./shares_step";
import { WorldsStep } from "./worlds_step";

export interface Step {
  id: string;
  title: string;
  text: ComponentChildren;
  /** Where the program does the same. */
  command?: string;
  show: FunctionComponent;
}

export const steps: Step[] = [
  {
    id: "worlds", title: "Two worlds, one answer", show: WorldsStep,
    text: <p>Differential privacy is a promise about an answer: it would have come out nearly as likely without you. Noise makes it so. Epsilon says how nearly.</p>,
    command: "discreet noise laplace --epsilon 0.1 --sensitivity 1 --value 1000",
  },
  {
    id: "belief", title: "What an answer can teach", show: PriorStep,
    text: <p>Somebody believes something about you before they see the answer, whatever they know from elsewhere. The answer moves the odds by at most e<sup>ε</sup>, up or down. It does not stop them from learning about the world: that smoking harms is true of you whether or not you take part.</p>,
    command: "discreet account --compose 'laplace(scale=1)' --delta 0",
  },
  {
    id: "group", title: "Families and groups", show: GroupStep,
    text: <p>The promise is made to one person. For k people at once it is k times weaker: what is hidden of one shows for a crowd, and that is what makes statistics possible.</p>,
    command: "discreet noise laplace --epsilon 0.1 --sensitivity 5 --value 1000",
  },
  {
    id: "local", title: "Trust no one, or trust a curator", show: LocalStep,
    text: <p>With randomized response everybody adds noise to their own answer, and nobody has to be trusted. A curator who sees the rows needs far less noise for the same promise; the difference grows with the number of people.</p>,
    command: "discreet noise randomized-response --epsilon 1.1 --value 1",
  },
  {
    id: "counts", title: "Many questions, one budget", show: ManyCountsStep,
    text: <p>k counts out of one budget: each gets a share, so each gets more noise. With Laplace noise the worst error grows like k, with Gaussian noise (and a small δ) like √k.</p>,
    command: "discreet account --compose '1000 x gaussian(sigma=20)' --delta 1e-6",
  },
  {
    id: "composition", title: "How losses add up", show: CompositionStep,
    text: <p>Losses of single answers add up at worst. Taken together they mostly do not all go wrong at once, and allowing a small δ turns k into about √k. Discreet's ledger uses the tight figures.</p>,
    command: "discreet account --compose '200 x laplace(scale=20)' --delta 1e-6 --table",
  },
  {
    id: "choice", title: "Choosing privately", show: ChoiceStep,
    text: <p>Some answers are not numbers: the most liked colour, a price, a model. The exponential mechanism picks an option with chances that grow with its score; nobody's vote changes any chance by more than e<sup>ε</sup>.</p>,
    command: "printf 'blue,42\\ngreen,35\\nred,18\\nyellow,5\\n' | discreet choose --scores - --epsilon 0.2 --mechanism exponential",
  },
  {
    id: "sampling", title: "Hiding in the sample", show: SamplingStep,
    text: <p>When only a random share of the people is asked and nobody knows who, each loses only about that share of epsilon.</p>,
    command: "discreet account --compose 'sampled(q=0.01, gaussian(sigma=1))' --delta 1e-6",
  },
  {
    id: "shares", title: "Two servers that see nothing", show: SharesStep,
    text: <p>Several parties can add up numbers without anybody seeing one: every number is split into two shares, each of which is random by itself. A proof keeps cheaters out, and noise on the total makes the sum private too.</p>,
  },
];
