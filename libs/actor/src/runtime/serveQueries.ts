/** Answers `list` and `show` for one kind of actor (docs/design/protocol.md#subjects-and-streams). */
import { contracts, type Host, isKey, queries, type ServiceName, type Subjects } from "@reprise/protocol"
import { Deferred, Effect, Result } from "effect"
import type { Actor, WorkOnHost } from "../Actor.ts"
import type { BrokerShape, QueryHandler } from "../broker/Broker.ts"
import type { BrokerFault, BrokerFull } from "../broker/faults.ts"
import type { PoisonMessage } from "../DeadLetter.ts"
import { textReader, type Undecodable } from "../wire.ts"
import { askHosts, withHosted } from "./hosted.ts"
import type { KeyedQueues } from "./KeyedQueues.ts"
import { type ListedView, lastOf, listedView, makeListedViews, matches, newest, withHostedText } from "./listedViews.ts"
import { data, dataOfTexts, failure, loggedFailure } from "./replies.ts"
import type { StoredView } from "./views.ts"

const readFilter = textReader(queries.list)
const readShow = textReader(queries.show)

/** What says how a list is answered, and not which views are in it. */
const shapes: ReadonlySet<string> = new Set(["brief", "lines", "most"])

/** A filter names fields of views. */
const filterFields = Object.keys(queries.list.fields).filter((name) => !shapes.has(name))

const badRequest = (error: { readonly message: string }) =>
  failure("bad-request", `The query cannot be read: ${error.message}`, 'list takes {}, show takes {"id": …}.')

/** The log says where; people need to know what does not work, and the next step. */
const brokerTrouble = (service: ServiceName) => (error: { readonly message: string }) =>
  loggedFailure(
    `a query was not answered: ${error.message}`,
    "broker",
    `The ${service} could not read its data from the broker.`,
    "Run 'reprise doctor'."
  )

/** The actor's journal holds what cannot be read: neither this query nor any command can be answered. */
const badJournal = (service: ServiceName, id: string, error: { readonly message: string }) =>
  loggedFailure(
    `a query was not answered: ${error.message}`,
    "bad-journal",
    `The journal of ${contracts[service].actor} ${id} cannot be read, so nothing can be done with it.`,
    "'reprise repair RUN' ends its run, says what is lost, and keeps what is stored in .reprise/archive/."
  )

export interface Queries {
  readonly service: ServiceName
  readonly broker: BrokerShape
  readonly subjects: Subjects
  readonly queues: KeyedQueues
  readonly workOnHost?: WorkOnHost | undefined
  readonly brief?: Actor<never, never, never>["brief"] | undefined
  readonly line?: Actor<never, never, never>["line"] | undefined
  /** Views of this process that are not stored yet, by their keys in the bucket. */
  readonly unstored: () => ReadonlyMap<string, StoredView>
  /** The read model as the journal has it now; absent: the actor has none, and only pings are answered. */
  readonly view?: (key: string) => Effect.Effect<unknown, PoisonMessage | Undecodable | BrokerFault | BrokerFull>
}

type ListQueries = Pick<Queries, "service" | "broker" | "subjects" | "workOnHost" | "brief" | "line" | "unstored">

/** Every view that is stored, or as this process has it where that is newer. */
const makeListAll = ({ brief, broker, line, service, unstored, workOnHost }: ListQueries) => {
  const listing = { fields: filterFields, workOnHost, brief, line }
  const listedOf = makeListedViews(listing)
  // Taken first: what is stored while the list is read is in the list.
  return Effect.flatMap(Effect.sync(unstored), (own) =>
    Effect.map(broker.views.list(service), (entries) =>
      entries.flatMap((entry) => {
        const ours = own.get(entry.key)
        return newest(ours === undefined ? undefined : listedView(listing, ours), listedOf(entry)) ?? []
      })
    )
  )
}

const makeList = (listQueries: ListQueries): QueryHandler => {
  const { broker, service, subjects, workOnHost } = listQueries
  const listAll = makeListAll(listQueries)
  const hostedOf = (views: ReadonlyArray<ListedView>) =>
    workOnHost === undefined
      ? Effect.succeed(new Map<Host | undefined, boolean | undefined>())
      : askHosts(
          broker,
          subjects,
          workOnHost,
          views.flatMap(({ host }) => host ?? [])
        )
  return (request) => {
    const query = readFilter(request === "" ? "{}" : request)
    if (Result.isFailure(query)) return Effect.succeed(badRequest(query.failure))
    const { brief = false, lines = false, most = Number.POSITIVE_INFINITY, ...filter } = query.success
    const textOf = ({ briefText, lineText, text }: ListedView) => (lines ? lineText : brief ? briefText : text)
    return listAll.pipe(
      Effect.map((views) =>
        lastOf(
          views.filter((one) => matches(one, filter)),
          most
        )
      ),
      Effect.flatMap((views) =>
        Effect.map(hostedOf(views), (hosted) =>
          views.map((view) => withHostedText(textOf(view), hosted.get(view.host)))
        )
      ),
      Effect.map(dataOfTexts),
      Effect.catch(brokerTrouble(service)),
      Effect.catchDefect((defect) => brokerTrouble(service)(new Error(String(defect))))
    )
  }
}

/** Reads the view in the actor's queue, where its memory does not change meanwhile. */
const makeShow = (
  { broker, queues, service, subjects, workOnHost }: Queries,
  view: NonNullable<Queries["view"]>
): QueryHandler =>
  Effect.fnUntraced(function* (request) {
    const query = readShow(request)
    if (Result.isFailure(query)) return badRequest(query.failure)
    const { id } = query.success
    const missing = failure(
      "not-found",
      `There is no '${id.slice(0, 80)}' here.`,
      "Check the id; list shows those that exist."
    )
    if (!isKey(id)) return missing
    const answer = yield* Deferred.make<Effect.Effect<string>>()
    const shown = (found: unknown) => Effect.map(withHosted(broker, subjects, workOnHost, found), data)
    const read = view(id).pipe(
      Effect.map((found) => (found === undefined ? Effect.succeed(missing) : shown(found))),
      Effect.catchTag(["PoisonMessage", "Undecodable"], (error) => Effect.succeed(badJournal(service, id, error))),
      Effect.catch((error) => Effect.succeed(brokerTrouble(service)(error))),
      Effect.catchDefect((defect) => Effect.succeed(brokerTrouble(service)(new Error(String(defect)))))
    )
    queues.push(
      id,
      Effect.flatMap(read, (text) => Deferred.succeed(answer, text))
    )
    // Whoever asks for the workers does not hold up the queue.
    return yield* yield* Deferred.await(answer)
  })

/** Answers queries until the scope closes. `list` may lag by a moment; `show` reads the journal. */
export const serveQueries = (queries: Queries) => {
  const { broker, service, subjects, view } = queries
  const handlers =
    view === undefined
      ? {}
      : {
          [subjects.api(service, "list")]: makeList(queries),
          [subjects.api(service, "show")]: makeShow(queries, view)
        }
  return broker.serve(service, handlers)
}

const none: ReadonlyMap<string, StoredView> = new Map()

/** Answers `list` from stored views, where no actor runs. Nobody answers `show`. */
export const serveStoredViews = (queries: Omit<ListQueries, "unstored">) =>
  queries.broker.serve(queries.service, {
    [queries.subjects.api(queries.service, "list")]: makeList({ ...queries, unstored: () => none })
  })
