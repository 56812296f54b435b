/** Every message with its fields, the subjects, the streams and the envelope, from the protocol's schemas. */
import {
  contracts,
  EscalationCommand,
  GateEvent,
  LiveMessage,
  OrchestratorCommand,
  OrchestratorEvent,
  ReviewCommand,
  ReviewEvent,
  SessionCommand,
  SessionEvent,
  WorkspaceCommand,
  WorkspaceEvent
} from "@reprise/protocol"
import { envelopeBlocks, streamBlocks, subjectBlocks } from "./broker.ts"
import { type Field, fieldsOf, jsonSchemaOf, jsonType } from "./fields.ts"
import { code, generated, page, table } from "./markdown.ts"
import { isStruct, type Named, named, names, withoutOwn } from "./names.ts"

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const fieldTable = (fields: ReadonlyArray<Field>): string =>
  fields.length === 0
    ? "No fields of its own."
    : table(
        ["field", "type", ""],
        fields.map(({ name, presence, type }) => [code(name), type, presence])
      )

const commands = [
  ["orchestrator", "the run's id", OrchestratorCommand.cases],
  ["session-manager", "the session's id", SessionCommand.cases],
  ["reviewer", "the run's id, `-p` and the phase, with `_` for `.`", ReviewCommand.cases],
  ["gate", "the escalation's id", EscalationCommand.cases],
  ["workspace", "the run's id", WorkspaceCommand.cases]
] as const

const { CommandRefused, ...orchestratorEvents } = OrchestratorEvent.cases
const own = <Cases extends object>(cases: Cases) =>
  Object.fromEntries(Object.entries(cases).filter(([type]) => type !== "CommandRefused"))

const events = [
  ["orchestrator", orchestratorEvents],
  ["session-manager", own(SessionEvent.cases)],
  ["reviewer", own(ReviewEvent.cases)],
  ["gate", own(GateEvent.cases)],
  ["workspace", own(WorkspaceEvent.cases)]
] as const

const messages = (cases: object, isShown: (field: Field) => boolean): ReadonlyArray<string> =>
  Object.entries(cases).flatMap(([type, schema]) =>
    isStruct(schema) ? [`#### ${type}`, fieldTable(fieldsOf(schema, names).filter(isShown))] : []
  )

const places = new Set(["phase", "step", "sessionId", "turnId"])

/** The fields that say where an event happened are described once for all events. */
const isOfEvent = ({ name, presence }: Field) => name !== "runId" && !(places.has(name) && presence === "optional")

const shapes = named.filter(([name, schema]) => isStruct(schema) && !name.endsWith("View") && name !== "ApiError")
const words = named.filter(([, schema]) => !isStruct(schema))
const readModels = named.filter(([name]) => name.endsWith("View") && name !== "PhaseView")

const struct =
  (level: string) =>
  ([name, schema]: Named) =>
    isStruct(schema) ? [`${level} ${name}`, fieldTable(fieldsOf(schema, names))] : []

export const messagesPage = (): string =>
  page([
    generated("libs/protocol and libs/nats"),
    "# Messages",
    "Reprise's services exchange JSON messages on NATS subjects, stored in JetStream streams. Anyone with the rights may read and send them. This page is the contract: a change is an addition with a default, or a new version. Ignore fields that you do not know.",
    "Times are in ISO 8601 UTC, durations in milliseconds, costs in US dollars. `reprise` stands for the prefix, which `nats.prefix` sets.",
    "## Subjects",
    ...subjectBlocks,
    "## Streams",
    ...streamBlocks,
    "## Envelope",
    ...envelopeBlocks,
    "## Ids",
    "Ids are used in subjects, so they consist of 1 to 64 letters, digits, `_` or `-`. A phase's id is its number, such as `2` or `2.1`.",
    "### RunId",
    "The id of a run.",
    "### SessionId",
    "The id of a session: the run's id and `-s` with a number; for a reviewer's session the review's key and `-s` with a number.",
    "### TurnId",
    "The id of a turn: like a session's, with `-t`.",
    "### EscalationId",
    "The id of a question: the run's id and `-e` with a number.",
    "### PhaseId",
    "The phase's number as the plan writes it.",
    "### Host",
    "A machine or pod with a disk. `any` is whichever is free.",
    "## Commands",
    "Imperative, to one actor. Published to `reprise.command.<service>.<key>`. The type is in `ce-type`, the fields are in the body. A command that cannot be executed is answered with the event [CommandRefused](#commandrefused), whose `reprise-causation` is the command's id. So is a command whose body does not fit its schema, which also becomes a dead letter. A message without a readable envelope cannot be answered and only becomes a dead letter. A command id is handled once. `runId` may be left out if it equals `ce-subject`, and the actor's id if it equals the subject's key.",
    ...commands.flatMap(([service, key, cases]) => [
      `### To ${code(service)}`,
      `Key: ${key}.`,
      ...messages(cases, () => true)
    ]),
    "## Events",
    "Past tense, facts. Published to `reprise.event.<service>.<run id>.<Type>`. Each carries `runId`, and `phase`, `step`, `sessionId` and `turnId` where they apply; below these are listed only where they are always present.",
    ...events.flatMap(([service, cases]) => [`### From ${code(service)}`, ...messages(cases, isOfEvent)]),
    "### From every service",
    ...messages({ CommandRefused }, isOfEvent),
    "`code` is one of these; events of older versions have no code:",
    Object.values(contracts)
      .map(({ refusals, service }) => `- ${code(service)}: ${refusals.map(code).join(", ")}`)
      .join("\n"),
    "## Live messages",
    "What an agent does right now, for displays. Told on `reprise.live.session-manager.<run id>.<Type>` to whoever listens, and stored nowhere. They have no headers, and nothing depends on them: the events say how it went on.",
    ...messages(LiveMessage.cases, () => true),
    "## Shapes",
    ...shapes.flatMap(struct("###")),
    "## Words",
    ...words.flatMap(([name, schema]) => [
      `### ${name}`,
      `${capital(jsonType(jsonSchemaOf(schema), withoutOwn(name)))}.`
    ]),
    "## Queries",
    'Request and reply. `reprise.api.<service>.list` takes `{}`, or `status`, `state` or `runId` to filter; with `{"brief":true}` the gate leaves out the evidence of questions and most of a long reason. With `{"lines":true}` the gate and the orchestrator give only what a line of a long list shows: of a run `runId`, `status`, `hosted`, `planPath`, `phase`, `step`, `escalationId`, `updatedAt` and the beginning of `reason`; of a question `escalationId`, `runId`, `planPath`, `phase`, `step`, `origin`, `raisedAt`, the beginning of `reason`, and the keys of its options in `choices`. `reprise.api.<service>.show` takes `{"id": …}`. The answer is `{"ok":true,"data":…}` or `{"ok":false,"error":…}` with an error of this shape:',
    ...named.filter(([name]) => name === "ApiError").flatMap(struct("###")),
    'Workers answer on `reprise.api.<service>.worker.<host>`; where nobody does, the server says at once that there is no responder. `reprise.api.session-manager.watch.<host>` answers, as soon as each session of the host has been looked at, in which of them somebody works outside of turns: `{"sessions":[…]}`.',
    "`data` is one of these, or a list of them:",
    Object.values(contracts)
      .map(({ service, view }) => `- ${code(service)}: ${jsonType(jsonSchemaOf(view), names)}`)
      .join("\n"),
    ...readModels.flatMap(struct("###")),
    ...named.filter(([name]) => name === "PhaseView").flatMap(struct("###"))
  ])
