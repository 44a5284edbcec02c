// The steps of the Learn page, in the order in which one idea leads to the next.
import type { ComponentChildren, FunctionComponent } from "preact";
import { ChoiceStep } from "./choice_step";
import { CompositionStep, GroupStep, LocalStep, ManyCountsStep, PriorStep, SamplingStep } from "./curve_steps";
import { CurseStep, LearningStep, NeedleStep, PriceStep, SensitivityStep, StreamStep, TownsStep } from "./data_steps";
import { LinearStep, LossStep, OverfitStep, SmokerStep, SparseStep } from "./lecture_steps";
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
    id: "curse", title: "Taking names off is not enough", show: CurseStep,
    text: <p>A table without names is safe, one might think, if everybody in it looks like k - 1 others. Every further column splits the crowd: after a handful nobody looks like anybody, and whoever knows a few facts finds the row.</p>,
    command: "discreet anonymize --curse --help",
  },
  {
    id: "needle", title: "A needle in a haystack", show: NeedleStep,
    text: <p>Averages over hundreds of people look harmless. But somebody who has your genome can compare it with enough of them and tell whether you were in the study. Private averages give away no more than epsilon allows, however many are published.</p>,
    command: "discreet attack membership",
  },
  {
    id: "worlds", title: "Two worlds, one answer", show: WorldsStep,
    text: <p>Differential privacy is a promise about an answer: it would have come out nearly as likely without you. Noise makes it so. Epsilon says how nearly.</p>,
    command: "discreet lecture worlds --epsilon 0.5",
  },
  {
    id: "belief", title: "What an answer can teach", show: PriorStep,
    text: <p>Somebody believes something about you before they see the answer, whatever they know from elsewhere. The answer moves the odds by at most e<sup>ε</sup>, up or down. It does not stop them from learning about the world: that smoking harms is true of you whether or not you take part.</p>,
    command: "discreet lecture side-information --epsilon 0.7",
  },
  {
    id: "smoker", title: "What is not promised", show: SmokerStep,
    text: <p>A private study finds that smoking causes cancer, and every smoker's premium rises, Alice's too. Her row did not do it: it would have happened without her, nearly as likely.</p>,
    command: "discreet lecture smoker --epsilon 0.2 --people 400",
  },
  {
    id: "sensitivity", title: "How far one person moves it", show: SensitivityStep,
    text: <p>Noise must cover the most that one person can change. A mean of n numbers hardly moves; a maximum or a median can jump over the whole range in the worst case, however many people there are, and needs another way (choosing by ranks).</p>,
    command: "discreet explain --policy discreet.toml \"SELECT avg(age) FROM people\"",
  },
  {
    id: "group", title: "Families and groups", show: GroupStep,
    text: <p>The promise is made to one person. For k people at once it is k times weaker: what is hidden of one shows for a crowd, and that is what makes statistics possible.</p>,
    command: "discreet lecture worlds --epsilon 0.2 --distance 4",
  },
  {
    id: "local", title: "Trust no one, or trust a curator", show: LocalStep,
    text: <p>With randomized response everybody adds noise to their own answer, and nobody has to be trusted. A curator who sees the rows needs far less noise for the same promise; the difference grows with the number of people.</p>,
    command: "discreet lecture response --truth 0.75 --people 1000",
  },
  {
    id: "counts", title: "Many questions, one budget", show: ManyCountsStep,
    text: <p>k counts out of one budget: each gets a share, so each gets more noise. With Laplace noise the worst error grows like k, with Gaussian noise (and a small δ) like √k.</p>,
    command: "discreet account --compose '1000 x gaussian(sigma=20)' --delta 1e-6",
  },
  {
    id: "linear", title: "Few questions or many", show: LinearStep,
    text: <p>Share-of-people questions, all out of one budget. A curator's Laplace noise is divided by n, but grows with the number of questions. The error of answers randomized at home shrinks with √n only, but they are paid once, however much is asked.</p>,
    command: "discreet lecture linear --queries 100 --people 10000 --error 0.05",
  },
  {
    id: "sparse", title: "Only yeses cost", show: SparseStep,
    text: <p>Many questions of the kind "is it above the threshold?", of which few are: only the yeses are paid. The error then grows with the logarithm of the number of questions.</p>,
    command: "discreet lecture sparse --questions 1000 --above 3",
  },
  {
    id: "stream", title: "Day after day", show: StreamStep,
    text: <p>A total published every day: the difference of two days gives somebody away unless all days are one release with one budget. Sums over stretches of days are reused for many totals, so the error grows with a logarithm instead of a root.</p>,
    command: "discreet continual start --help",
  },
  {
    id: "composition", title: "How losses add up", show: CompositionStep,
    text: <p>Losses of single answers add up at worst. Taken together they mostly do not all go wrong at once, and allowing a small δ turns k into about √k. Discreet's ledger uses the tight figures.</p>,
    command: "discreet account --compose '200 x laplace(scale=20)' --delta 1e-6 --table",
  },
  {
    id: "loss", title: "Loss is a matter of luck", show: LossStep,
    text: <p>How much likelier an answer is with you than without you is itself random: sometimes it speaks for you, sometimes against. Over many answers most of it cancels. The dashed line marks advanced composition: more than that is lost with a chance below δ.</p>,
    command: "discreet lecture loss --epsilon 0.1 --times 100",
  },
  {
    id: "choice", title: "Choosing privately", show: ChoiceStep,
    text: <p>Some answers are not numbers: the most liked colour, a price, a model. The exponential mechanism picks an option with chances that grow with its score; nobody's vote changes any chance by more than e<sup>ε</sup>.</p>,
    command: "printf 'blue,42\\ngreen,35\\nred,18\\nyellow,5\\n' | discreet choose --scores - --epsilon 0.2 --mechanism exponential",
  },
  {
    id: "price", title: "Posting a price", show: PriceStep,
    text: <p>A price a little above what most can pay takes in nothing, so noise on the best price may cost everything. The exponential mechanism weighs each price by what it takes in, and nobody's bid gains much by a lie: it hardly changes the price.</p>,
    command: "discreet lecture auction",
  },
  {
    id: "sampling", title: "Hiding in the sample", show: SamplingStep,
    text: <p>When only a random share of the people is asked and nobody knows who, each loses only about that share of epsilon.</p>,
    command: "discreet account --compose 'sampled(q=0.01, gaussian(sigma=1))' --delta 1e-6",
  },
  {
    id: "overfit", title: "Private rules do not overfit", show: OverfitStep,
    text: <p>Choose the best of many rules on a sample and it looks better than it is. A rule chosen privately cannot hang on any one person, so on average it looks at most e<sup>ε</sup> - 1 too good.</p>,
    command: "discreet lecture generalise --epsilon 0.1 --people 200 --features 500",
  },
  {
    id: "learning", title: "How many people to learn from", show: LearningStep,
    text: <p>Choosing one of many rules privately needs more people, but only by a factor with 1/ε in it: what can be learned from finitely many rules can be learned privately (Kasiviswanathan and others 2011).</p>,
    command: "discreet learn fit --help",
  },
  {
    id: "towns", title: "Towns with minus two people", show: TownsStep,
    text: <p>Noise makes small counts negative. Setting them to zero looks sensible, and makes the country grow. Releasing the total as well and making all tables add up to it keeps both: no nonsense, and totals that hold.</p>,
    command: "discreet query --policy discreet.toml \"SELECT ward, sex, count(*) FROM people GROUP BY CUBE (ward, sex)\"",
  },
  {
    id: "shares", title: "Two servers that see nothing", show: SharesStep,
    text: <p>Several parties can add up numbers without anybody seeing one: every number is split into two shares, each of which is random by itself. A proof keeps cheaters out, and noise on the total makes the sum private too.</p>,
    command: "discreet lecture aggregation --people 100 --max 10",
  },
];
