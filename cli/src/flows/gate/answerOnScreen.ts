/** The full-screen gate: one question of a run, or all questions as they come. */
import { type ActorConfig, type Broker, Messenger } from "@reprise/actor"
import type { EscalationView, Key, RunId } from "@reprise/protocol"
import { Effect, Queue, Schedule, type Scope, Stream } from "effect"
import { findQuestion, findSession } from "../../system/lookUp/lookUp.ts"
import { screenSize } from "../../terminal/fullScreen.ts"
import { say } from "../../terminal/Printer.ts"
import { readInEditor } from "../../terminal/readInEditor.ts"
import { quotedLines, visible } from "../../terminal/visible.ts"
import { emptyGate, type GateInput, type GateModel, type GateRequest, unsent } from "../../views/gate/GateModel.ts"
import { updateGate } from "../../views/gate/updateGate.ts"
import { forkAtQuestion, forkedLine } from "../forks/forkAtQuestion.ts"
import { answerQuestion } from "./answerQuestion.ts"
import type { Closed } from "./askInTerminal.ts"
import { evidenceText } from "./evidenceText.ts"
import { makeScreenTerminal } from "./screenTerminal.ts"
import { wholeTranscript } from "./wholeTranscript.ts"

type Offer = (input: GateInput) => void

interface ScreenOptions {
  readonly questions: ReadonlyArray<EscalationView>
  /** The screen stays when the question was answered, for those that follow. */
  readonly stays: boolean
  /** Agents of this run are heard; undefined: of every run. */
  readonly runId?: RunId | Key
  /** Tells of questions that come and go. */
  readonly listen: (offer: Offer) => Effect.Effect<void, unknown, Messenger>
}

const tickEvery = "500 millis"

const shows = (error: unknown): string => visible(error instanceof Error ? error.message : String(error))

const textFor = Effect.fnUntraced(function* ({ question, tab }: Extract<GateRequest, { _tag: "Look" }>) {
  if (tab === "question" || tab === "transcript") return yield* wholeTranscript(question)
  return yield* evidenceText(question, tab)
})

const look = (request: Extract<GateRequest, { _tag: "Look" }>, offer: Offer) => {
  const { question, tab } = request
  return textFor(request).pipe(
    Effect.catch((error) => Effect.succeed(shows(error))),
    Effect.map((text) =>
      tab === "attach"
        ? offer({ _tag: "Told", text })
        : offer({ _tag: "Looked", escalationId: question.escalationId, tab, text })
    )
  )
}

const fork = ({ question, words }: Extract<GateRequest, { _tag: "Fork" }>, offer: Offer) =>
  forkAtQuestion(question, words === "" ? {} : { words }).pipe(
    Effect.map((made) => offer({ _tag: "Told", text: forkedLine(made) })),
    Effect.catch((error) => {
      const { escalationId } = question
      return Effect.sync(() => offer({ _tag: "NotForked", escalationId, words, message: shows(error) }))
    })
  )

const readSession = ({ escalationId, evidence, sessionId }: EscalationView, offer: Offer) => {
  const id = sessionId ?? evidence.sessionId
  if (id === undefined) return Effect.void
  return findSession(id).pipe(
    Effect.map((session) => offer({ _tag: "SessionRead", escalationId, session })),
    Effect.ignore
  )
}

const closing = ({ by = "somebody", choice, escalationId }: EscalationView): GateInput => ({
  _tag: "Closed",
  escalationId,
  how: choice === undefined ? "is closed." : `was answered by ${visible(by)}: ${visible(choice)}.`
})

/** The refusal of a late answer says who was first. */
const send = ({ answer, question }: Extract<GateRequest, { _tag: "Send" }>, offer: Offer) => {
  const { escalationId } = question
  return answerQuestion(question, answer, "terminal").pipe(
    Effect.map(() => offer({ _tag: "Sent", escalationId })),
    Effect.catch((error) =>
      Effect.gen(function* () {
        offer({ _tag: "Refused", escalationId, message: shows(error) })
        const now = yield* Effect.orElseSucceed(findQuestion(escalationId), () => question)
        if (now.state !== "open") offer(closing(now))
      })
    )
  )
}

/** Its first picture shows the questions that are open already. */
const makeScreen = Effect.fnUntraced(function* (questions: ReadonlyArray<EscalationView>, offer: Offer) {
  let model = emptyGate(Date.now(), screenSize())
  const first: Array<GateRequest> = []
  for (const question of questions) {
    const updated = updateGate(model, { _tag: "Opened", question })
    model = updated.model
    first.push(...updated.requests)
  }
  const kept: Array<string> = []
  const terminal = yield* Effect.acquireRelease(
    Effect.sync(() => makeScreenTerminal(model, offer)),
    (open) =>
      Effect.sync(() => {
        open.close()
        for (const text of [...kept, ...unsent(model)]) say(`What you wrote was not sent:\n${quotedLines(text)}`)
      })
  )
  const resized = () => offer({ _tag: "Resized", size: screenSize() })
  process.stderr.on("resize", resized)
  yield* Effect.addFinalizer(() => Effect.sync(() => process.stderr.off("resize", resized)))
  const tick = Effect.sync(() => offer({ _tag: "Ticked", nowMs: Date.now() }))
  yield* Effect.forkScoped(Effect.repeat(tick, Schedule.spaced(tickEvery)))
  return {
    terminal,
    /** What the first questions ask for. */
    first,
    keep: (text: string) => kept.push(text),
    take: (input: GateInput): ReadonlyArray<GateRequest> => {
      const updated = updateGate(model, input)
      model = updated.model
      return updated.requests
    },
    /** Draws what has become of it. */
    show: () => terminal.show(model),
    model: (): GateModel => model
  }
})

type Screen = Effect.Success<ReturnType<typeof makeScreen>>

/** The editor has the terminal until it ends, whoever answers meanwhile. */
const write = Effect.fnUntraced(function* (
  screen: Screen,
  { question, text }: Extract<GateRequest, { _tag: "Edit" }>,
  offer: Offer
) {
  const take = screen.terminal.lend()
  const written = yield* Effect.onExit(readInEditor(text), () => Effect.sync(take))
  offer({ _tag: "Edited", escalationId: question.escalationId, text: written })
})

/** Does what the model asks for. Returns how the human left, if so. */
const fulfil = (
  screen: Screen,
  request: GateRequest,
  offer: Offer
): Effect.Effect<Closed | undefined, never, ActorConfig | Broker | Messenger | Scope.Scope> => {
  switch (request._tag) {
    case "Send":
      return Effect.as(Effect.forkScoped(send(request, offer)), undefined)
    case "Look":
      return Effect.as(Effect.forkScoped(look(request, offer)), undefined)
    case "Fork":
      return Effect.as(Effect.forkScoped(fork(request, offer)), undefined)
    case "ReadSession":
      return Effect.as(Effect.forkScoped(readSession(request.question, offer)), undefined)
    case "Edit":
      return Effect.as(write(screen, request, offer), undefined)
    case "Keep":
      return Effect.as(
        Effect.sync(() => screen.keep(request.text)),
        undefined
      )
    case "Leave":
      return Effect.succeed({ _tag: "Closed", by: request.by })
  }
}

/** Returns how the human left; undefined if there is nothing left to ask. */
export const runScreen = Effect.fn("runScreen")(function* ({ listen, questions, runId, stays }: ScreenOptions) {
  const messenger = yield* Messenger
  const inputs = yield* Queue.unbounded<GateInput>()
  const offer: Offer = (input) => {
    Queue.offerUnsafe(inputs, input)
  }
  const screen = yield* makeScreen(questions, offer)
  for (const request of screen.first) yield* fulfil(screen, request, offer)
  yield* Effect.forkScoped(
    Stream.runForEach(messenger.hear(runId), (message) => Effect.sync(() => offer({ _tag: "Heard", message })))
  )
  yield* Effect.forkScoped(listen(offer))
  while (true) {
    // Agents may write faster than a terminal draws: whatever has come is one picture.
    for (const input of yield* Queue.takeAll(inputs)) {
      for (const request of screen.take(input)) {
        const left = yield* fulfil(screen, request, offer)
        if (left !== undefined) return left
      }
    }
    if (!stays && screen.model().questions.length === 0) return undefined
    screen.show()
  }
}, Effect.scoped)

/** Asks one question. Returns how the human left; undefined if the question is closed, here or elsewhere. */
export const answerOnScreen = Effect.fn("answerOnScreen")(function* (escalationId: string) {
  const question = yield* findQuestion(escalationId)
  if (question.state !== "open") return undefined
  return yield* runScreen({ questions: [question], stays: false, runId: question.runId, listen: () => Effect.void })
})
