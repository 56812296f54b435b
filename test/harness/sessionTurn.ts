/** Lets a test send commands to a session-manager, as the orchestrator does, and watch the events of the session. */
import { Messenger } from "@reprise/actor"
import {
  Host,
  type PublicEvent,
  type PublicEventType,
  RunId,
  type SessionCommand,
  sessionIdOf,
  turnIdOf
} from "@reprise/protocol"
import { Effect, Stream } from "effect"

type StartTurn = Extract<SessionCommand, { readonly _tag: "StartTurn" }>
type EventOf<Tag extends PublicEventType> = Extract<PublicEvent, { readonly _tag: Tag }>

/** The command for the first turn of a new session. */
export const turnIn = (name: string, directory: string, prompt: string, more: Partial<StartTurn> = {}): StartTurn => ({
  _tag: "StartTurn",
  turnId: turnIdOf(RunId.make(name), 1),
  runId: RunId.make(name),
  phase: "1",
  step: "EXECUTE",
  role: "author",
  session: { _tag: "New" },
  onMissing: "fail",
  runtime: "opencode",
  directory,
  host: Host.make("local"),
  permissions: "all",
  title: name,
  report: "author-status",
  limits: {},
  prompt: `You are the author of phase 1 of the plan PLAN.md: ${prompt}`,
  ...more
})

/** The commands that a test can send to one session, and its view and events. */
export const sessionOf = Effect.fnUntraced(function* (turn: StartTurn) {
  const messenger = yield* Messenger
  const sessionId = sessionIdOf(turn.runId, 1)
  const all = { runId: turn.runId, services: ["session-manager"], from: "beginning" } as const
  const send = (command: SessionCommand) => messenger.send({ service: "session-manager", key: sessionId, command })
  return {
    sessionId,
    send,
    start: send(turn),
    view: messenger.query("session-manager", "show", { id: sessionId }),
    /** The first event of a type, past or future. */
    event: <Tag extends PublicEventType>(type: Tag) =>
      messenger.events({ ...all, types: [type] }).pipe(
        Stream.take(1),
        Stream.runCollect,
        Effect.map(([seen]) => seen?.event as EventOf<Tag>)
      ),
    /** The types of all events up to the end of the first turn, except `TurnProgress`. */
    story: messenger.events(all).pipe(
      Stream.map(({ event }) => event._tag),
      Stream.takeUntil((type) => type === "TurnCompleted" || type === "TurnFailed"),
      Stream.filter((type) => type !== "TurnProgress"),
      Stream.runCollect
    )
  }
})
