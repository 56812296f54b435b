/** An open question as text for people (gate: What a question shows). Agent text is made safe. Pure. */
import { type EscalationView, type GateResult, gateOutput, isStandalone } from "@reprise/protocol"
import { color, visible } from "../terminal/Printer.ts"

const indent = (text: string): string =>
  visible(text)
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n")

const section = (title: string, body: string | undefined): ReadonlyArray<string> =>
  body === undefined || body.trim() === "" ? [] : [color.bold(title), indent(body.trimEnd())]

/** The end is what tells why a gate failed: an output that is not whole is shown from its tail on. */
const endOf = (result: GateResult): string =>
  result.overlap === undefined && result.tail !== "" ? result.tail : gateOutput(result)

/** Its description is the reason of the question. */
const checkpointOf = ({ evidence: { checkpoint }, reason }: EscalationView): string | undefined => {
  if (checkpoint === undefined) return undefined
  const name = `${checkpoint.task} (${checkpoint.type})`
  return checkpoint.description === reason ? name : `${name}: ${checkpoint.description}`
}

/** Minutes and hours since an ISO time. */
export const since = (iso: string, nowMs: number): string => {
  const minutes = Math.max(0, Math.floor((nowMs - Date.parse(iso)) / 60_000))
  if (minutes < 1) return "just now"
  if (minutes < 120) return `${minutes} min ago`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h ago` : `${Math.floor(minutes / 60 / 24)} days ago`
}

/** `c = continue session (…)`; an option without a short key is shown by its name. */
export const optionLines = (question: EscalationView): ReadonlyArray<string> =>
  question.options.map((option) => `${option.keys[0] ?? option.name} = ${visible(option.label)}`)

export const questionText = (question: EscalationView, nowMs: number): string => {
  const { evidence } = question
  const where = [
    isStandalone(question) ? `session ${question.runId}` : `run ${question.runId}`,
    evidence.planPath === undefined ? undefined : `plan ${evidence.planPath}`,
    question.phase === undefined
      ? undefined
      : `phase ${question.phase}${evidence.phaseTitle === undefined ? "" : ` (${evidence.phaseTitle})`}`,
    question.step,
    evidence.attempt === undefined ? undefined : `attempt ${evidence.attempt}`
  ].filter((part) => part !== undefined)
  const used = evidence.tokens
  const session = question.sessionId ?? evidence.sessionId
  return [
    color.yellow(color.bold(`A human is needed: ${question.escalationId}`)),
    `${where.join(", ")}; asked by ${question.origin} ${since(question.raisedAt, nowMs)}`,
    ...section("Why", question.reason),
    ...section(
      "Items",
      question.items
        ?.map(
          (item) =>
            `${item.priority} ${item.id} ${item.title} (${item.action})${item.reason === "" ? "" : `: ${item.reason}`}`
        )
        .join("\n")
    ),
    ...section(
      "Failed quality gates",
      evidence.gateResults
        ?.filter((result) => result.exitCode !== 0)
        .map(
          (result) =>
            `${result.command} → ${result.timedOut ? "timed out" : `exit ${result.exitCode}`} (log ${result.logRef})\n${endOf(result)}`
        )
        .join("\n")
    ),
    ...section("Not committed", evidence.dirty?.join("\n")),
    ...section("Missing", [...(evidence.missingCommits ?? []), ...(evidence.missingFiles ?? [])].join("\n")),
    ...section("Checkpoint", checkpointOf(question)),
    ...section("Verify", evidence.checkpoint?.verifySteps?.map((step, n) => `${n + 1}. ${step}`).join("\n")),
    ...section("Do", evidence.checkpoint?.requiredAction),
    ...section("Last words of the agent", evidence.lastLines),
    ...section("Commit", [evidence.commit, evidence.diffStat].filter((part) => part !== undefined).join("\n")),
    ...(used === undefined
      ? []
      : [
          `Used so far: ${used.input + used.output} tokens${used.cacheRead === 0 ? "" : ` (and ${used.cacheRead} from the cache)`}, $${(evidence.cost ?? 0).toFixed(4)}`
        ]),
    ...(session === undefined ? [] : [`Session ${session}; 'reprise attach ${session}' opens it`]),
    ...(evidence.continueUnavailable === undefined ? [] : [`No continue: ${visible(evidence.continueUnavailable)}`]),
    "",
    ...optionLines(question)
  ].join("\n")
}
