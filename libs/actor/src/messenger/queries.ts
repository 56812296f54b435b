/** Asking a service for its read models. */
import { PermissionDenied } from "@reprise/nats"
import {
  ApiError,
  contracts,
  EscalationLine,
  type IdOf,
  type ListFilter,
  RunLine,
  type ServiceName,
  subjects as subjectsOf,
  type ViewOf
} from "@reprise/protocol"
import { Effect, Predicate, Schema } from "effect"
import type { ActorSettings } from "../ActorConfig.ts"
import type { BrokerShape } from "../broker/Broker.ts"
import type { BrokerFault } from "../broker/faults.ts"

/** A query that got no data: `code` and `hint` are for `--json`. */
export class QueryFailed extends Schema.TaggedError<QueryFailed>()("QueryFailed", ApiError.fields) {}

/** The data that a service answers: `list` takes a filter or `{}`, `show` takes `{ id }`. */
export type Query = (
  service: ServiceName,
  name: "list" | "show",
  payload: object
) => Effect.Effect<unknown, QueryFailed>

interface ServiceOf {
  readonly orchestrator: "orchestrator"
  readonly sessionManager: "session-manager"
  readonly reviewer: "reviewer"
  readonly gate: "gate"
  readonly workspace: "workspace"
}

/** One actor's read model, as its journal has it now. An id that no actor has fails with the code `not-found`. */
export type Show = {
  readonly [Name in keyof ServiceOf]: (id: IdOf<ServiceOf[Name]>) => Effect.Effect<ViewOf<ServiceOf[Name]>, QueryFailed>
}

/** Every actor's read model, or those that match the filter; it may lag behind the journal by a moment. */
export type List = {
  readonly [Name in keyof ServiceOf]: (
    filter?: ListFilter
  ) => Effect.Effect<ReadonlyArray<ViewOf<ServiceOf[Name]>>, QueryFailed>
}

/** What a line of a long list shows of each actor that matches the filter: far fewer bytes than whole read models. */
export interface Lines {
  readonly orchestrator: (filter?: ListFilter) => Effect.Effect<ReadonlyArray<RunLine>, QueryFailed>
  readonly gate: (filter?: ListFilter) => Effect.Effect<ReadonlyArray<EscalationLine>, QueryFailed>
}

const Reply = Schema.fromJsonString(
  Schema.Union([
    Schema.Struct({ ok: Schema.Literal(true), data: Schema.Unknown }),
    Schema.Struct({ ok: Schema.Literal(false), error: ApiError })
  ])
)
const readReply = Schema.decodeUnknownEffect(Reply)

const failed = (code: string, message: string, hint: string) => new QueryFailed({ code, message, hint })
export const badReply = ({ message }: { readonly message: string }) =>
  failed("bad-reply", message, "Are all services of the same version?")

const unanswered = (service: ServiceName, { cause }: BrokerFault) => {
  if (cause instanceof PermissionDenied) {
    return failed("not-permitted", cause.message, "Nothing was changed. docs/operations.md says who may do what.")
  }
  return Predicate.isTagged(cause, "RequestTimedOut")
    ? failed(
        "no-answer",
        `The ${service} did not answer in time: it, or the machine, is busy.`,
        "No data is lost. Try again in a moment; 'reprise doctor' shows whether the broker answers."
      )
    : failed("broker", `The ${service} could not be asked: the broker failed.`, "Run 'reprise doctor'.")
}

/** The data that whoever serves the subject answers. */
export const askAt = Effect.fnUntraced(function* (
  broker: BrokerShape,
  service: ServiceName,
  subject: string,
  payload: object
) {
  const text = yield* broker.request(subject, JSON.stringify(payload)).pipe(
    Effect.tapError((fault) => Effect.logWarning(fault.message)),
    Effect.mapError((fault) => unanswered(service, fault))
  )
  if (text === undefined) {
    return yield* failed("not-running", `No ${service} answers.`, "Start it with 'reprise up' or 'reprise serve'.")
  }
  const reply = yield* Effect.mapError(readReply(text), badReply)
  return reply.ok ? reply.data : yield* new QueryFailed(reply.error)
})

export const makeQuery = (broker: BrokerShape, { prefix }: ActorSettings): Query => {
  const subjects = subjectsOf(prefix)
  return Effect.fn("Messenger.query")((service, name, payload) =>
    askAt(broker, service, subjects.api(service, name), payload)
  )
}

type ViewSchema<Service extends ServiceName> = Schema.Codec<ViewOf<Service>, unknown>

const showOf = <Service extends ServiceName>(query: Query, service: Service, view: ViewSchema<Service>) => {
  const decode = Schema.decodeUnknownEffect(view)
  return (id: IdOf<Service>) =>
    Effect.flatMap(query(service, "show", { id }), (data) => Effect.mapError(decode(data), badReply))
}

const listOf = <View>(query: Query, service: ServiceName, view: Schema.Codec<View, unknown>) => {
  const decode = Schema.decodeUnknownEffect(Schema.Array(view))
  return (filter: ListFilter = {}) =>
    Effect.flatMap(query(service, "list", filter), (data) => Effect.mapError(decode(data), badReply))
}

const { gate, orchestrator, reviewer, "session-manager": sessionManager, workspace } = contracts

export const makeShow = (query: Query): Show => ({
  orchestrator: showOf(query, "orchestrator", orchestrator.view),
  sessionManager: showOf(query, "session-manager", sessionManager.view),
  reviewer: showOf(query, "reviewer", reviewer.view),
  gate: showOf(query, "gate", gate.view),
  workspace: showOf(query, "workspace", workspace.view)
})

export const makeList = (query: Query): List => ({
  orchestrator: listOf(query, "orchestrator", orchestrator.view),
  sessionManager: listOf(query, "session-manager", sessionManager.view),
  reviewer: listOf(query, "reviewer", reviewer.view),
  gate: listOf(query, "gate", gate.view),
  workspace: listOf(query, "workspace", workspace.view)
})

export const makeLines = (query: Query): Lines => {
  const runs = listOf(query, "orchestrator", RunLine)
  const questions = listOf(query, "gate", EscalationLine)
  return {
    orchestrator: (filter = {}) => runs({ ...filter, lines: true }),
    gate: (filter = {}) => questions({ ...filter, lines: true })
  }
}
