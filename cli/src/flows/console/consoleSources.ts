/** What the web console shows from this machine: conversations, changes, logs, and events in words. */
import { type ActorConfig, type Broker, Messenger, Refused } from "@reprise/actor"
import type { Conversation } from "@reprise/agent/message"
import { ConsoleSources, NotPossible, Unavailable } from "@reprise/gate/console"
import { guidanceText } from "@reprise/plan/agentTexts"
import { type EscalationView, isStandalone, type PublicEvent, type SessionView } from "@reprise/protocol"
import { readTranscript } from "@reprise/session-manager/readTranscript"
import { changesIn, gateLogs } from "@reprise/workspace/look"
import { Effect, Layer } from "effect"
import { loadConfig } from "../../config/loadConfig.ts"
import { settingsTable } from "../../config/settingsTable.ts"
import { conversation } from "../../system/agents/conversation.ts"
import { requireAgent } from "../../system/agents/requireAgent.ts"
import { awaitsSaving } from "../../system/lookUp/lookUp.ts"
import type { SystemOptions } from "../../system/SystemOptions.ts"
import { CliFailure } from "../../terminal/CliFailure.ts"
import { visible } from "../../terminal/visible.ts"
import { eventLine, logLine } from "../../views/eventLine.ts"
import { user } from "../gate/answerQuestion.ts"
import { changesUnknown, workOf } from "../gate/evidenceText.ts"
import { explained } from "../repository/explainConfig.ts"
import { makeFork } from "./forkFromConsole.ts"
import { makeListPlans } from "./listPlans.ts"
import { dryRun, makeStart } from "./runsFromConsole.ts"

const changesOf = Effect.fnUntraced(function* (question: EscalationView) {
  const { directory, workspace } = yield* workOf(question)
  const { base } = question.evidence
  const folder = directory ?? workspace
  return yield* changesIn(folder, base).pipe(
    Effect.mapError(
      (why) =>
        new Unavailable({
          code: "no-changes",
          message: changesUnknown(folder, why, base),
          hint: "The work may be on another host, or its folder was removed."
        })
    )
  )
})

const gateLogsOf = Effect.fnUntraced(function* (question: EscalationView) {
  const { workspace } = yield* workOf(question)
  const { gateResults = [] } = question.evidence
  return yield* gateLogs(
    workspace,
    question.runId,
    gateResults.map(({ logRef }) => logRef)
  )
})

/** While an agent works, its runtime knows more than what was saved. */
const conversationOf = Effect.fnUntraced(function* (session: SessionView, options: SystemOptions) {
  const { transcript, turnId } = session
  const isSaved = transcript !== undefined && turnId === undefined && !awaitsSaving(session)
  const saved = isSaved ? yield* readTranscript(transcript) : undefined
  const { messages, savedAt } = saved ?? (yield* conversation(session, options))
  return { messages, savedAt } satisfies Conversation
})

/** Questions about steps put the guidance into the next prompt, after what was said before; others pass it on as it is. */
const previewOf = ({ evidence, origin }: EscalationView, guidance: string): string => {
  const isPassedOn = origin === "permission" || origin === "question" || origin === "checkpoint"
  if (isPassedOn) return guidance
  const before = (evidence.willBeTold ?? []).filter(({ role }) => role === "author").map(({ text }) => text)
  return guidanceText([...before, ...(guidance.trim() === "" ? [] : [guidance])])
}

const unavailable = (error: { readonly message: string; readonly hint?: string; readonly code?: string }) =>
  error instanceof Unavailable
    ? error
    : new Unavailable({
        code: error.code ?? "unavailable",
        message: error.message,
        hint: error.hint ?? "'reprise doctor' shows what is wrong."
      })

/** What the user can change is told apart from what may pass by itself. */
const notPossible = (error: { readonly message: string; readonly hint?: string; readonly code?: string }) => {
  const { code, hint, message } = unavailable(error)
  const isTheirs = error instanceof CliFailure || error instanceof Refused
  return isTheirs ? new NotPossible({ code, message, hint }) : new Unavailable({ code, message, hint })
}

/** Somebody may have written a secret into them by mistake. */
const unshown = new Set<string>(settingsTable.filter(({ mayHoldSecret }) => mayHoldSecret).map(({ path }) => path))

const settingsOf = ({ project, settings }: SystemOptions) =>
  loadConfig(project.root, { flags: { nats: { url: settings.nats.url } } }).pipe(
    Effect.map((config) =>
      explained(config).map(({ environment: _, ...row }) =>
        unshown.has(row.setting) && row.source !== "default" ? { ...row, value: "(not shown here)" } : row
      )
    )
  )

const describe = (event: PublicEvent) => ({
  line: visible(logLine(event).trim()),
  isDetail: eventLine(event) === undefined
})

/** What lies in the repository, on the hosts of its runs, and on its broker. */
export const consoleSources = (options: SystemOptions) =>
  Layer.effect(
    ConsoleSources,
    Effect.gen(function* () {
      const context = yield* Effect.context<Messenger | Broker | ActorConfig>()
      const start = makeStart(options)
      const fork = makeFork()
      return ConsoleSources.of({
        conversation: (session) =>
          conversationOf(session, options).pipe(Effect.mapError(unavailable), Effect.provide(context)),
        changes: (question) => changesOf(question).pipe(Effect.mapError(unavailable), Effect.provide(context)),
        gateLogs: (question) =>
          gateLogsOf(question).pipe(
            Effect.orElseSucceed(() => []),
            Effect.provide(context)
          ),
        preview: previewOf,
        requireAgent: (question, named) =>
          requireAgent(question, named).pipe(Effect.mapError(unavailable), Effect.provide(context)),
        repository: {
          plans: makeListPlans(options.project),
          dryRun: (wanted) => dryRun(options, wanted).pipe(Effect.mapError(notPossible), Effect.provide(context)),
          start: (wanted) => start(wanted).pipe(Effect.mapError(notPossible), Effect.provide(context)),
          fork: (question, wanted) =>
            fork(question, wanted).pipe(Effect.mapError(notPossible), Effect.provide(context)),
          settings: settingsOf(options).pipe(Effect.mapError(unavailable))
        },
        describe,
        user: user()
      })
    })
  )

const onItsHost = (what: string, why: string) =>
  new Unavailable({
    code: "on-its-host",
    message: `${what} on the run's host. ${why}`,
    hint: "Open the run's branch, or its folder on that host."
  })

/** The host that has the working tree of the run that asks. */
const hostOf = (what: string, question: EscalationView) =>
  isStandalone(question)
    ? Effect.fail(onItsHost(what, "Hosts show only those of runs, and this session has no run."))
    : Messenger.use(({ show }) => show.workspace(question.runId)).pipe(
        Effect.map(({ host }) => host),
        Effect.mapError(({ message }) => onItsHost(what, message))
      )

const changesElsewhere = Effect.fnUntraced(function* (question: EscalationView) {
  const what = "The changes are"
  const host = yield* hostOf(what, question)
  return yield* Messenger.use(({ changesAt }) => changesAt(host, question.runId, question.evidence.base)).pipe(
    Effect.mapError(({ message }) => onItsHost(what, message))
  )
})

const gateLogsElsewhere = Effect.fnUntraced(function* (question: EscalationView) {
  const logs = (question.evidence.gateResults ?? []).map(({ logRef }) => logRef)
  if (logs.length === 0) return []
  const what = "The logs of the quality gates are"
  const host = yield* hostOf(what, question)
  return yield* Messenger.use(({ gateLogsAt }) => gateLogsAt(host, question.runId, logs)).pipe(
    Effect.mapError(({ message }) => onItsHost(what, message))
  )
})

/** For a console that serves no repository: what is stored on the NATS server, and what the hosts of runs show. */
export const storedSources = (options: SystemOptions) =>
  Layer.effect(
    ConsoleSources,
    Effect.gen(function* () {
      const context = yield* Effect.context<Messenger | Broker | ActorConfig>()
      return ConsoleSources.of({
        conversation: (session) =>
          conversationOf(session, options).pipe(Effect.mapError(unavailable), Effect.provide(context)),
        changes: (question) => changesElsewhere(question).pipe(Effect.provide(context)),
        gateLogs: (question) => gateLogsElsewhere(question).pipe(Effect.provide(context)),
        preview: previewOf,
        // The host of the run refuses an agent that it does not have.
        requireAgent: () => Effect.void,
        describe,
        user: user()
      })
    })
  )
