/**
 * A runtime whose agents ask before their commands reach a name, or write a file, that the sandbox does not allow: a
 * permission like any other, asked once for each request and turn (docs/design/sessions.md#refused-permissions). What a rule
 * denies is refused at once. Requests that no human may allow are only reported.
 */
import { randomUUID } from "node:crypto"
import type { Decider, RefusedWrite, SandboxShape } from "@reprise/sandbox"
import { Deferred, Effect, PubSub, Scope, Stream } from "effect"
import type { AgentRuntimeShape, Prompt, PromptReply } from "./AgentRuntimeShape.ts"
import { nothingProtected, placeOf } from "./isInside.ts"
import type { PendingPrompt, PromptOption, RuntimeEvent } from "./RuntimeEvent.ts"
import { decide } from "./rules/decide.ts"
import type { RememberedRule, ToolRequest } from "./rules/PermissionRules.ts"
import { permissionOptions } from "./rules/permissionOptions.ts"
import type { RuleBook } from "./rules/RuleBook.ts"

/** What a command wants that the sandbox refuses. */
interface Wish {
  readonly kind: "network" | "write"
  /** A name, or a path. */
  readonly what: string
  /** As rules see it. */
  readonly request: ToolRequest
  /** No human may allow it. */
  readonly closed?: boolean
  readonly options: ReadonlyArray<PromptOption>
}

type Answer = "once" | "always" | "reject"

interface Asked {
  readonly prompt: PendingPrompt
  readonly directory: string
  readonly answer: Deferred.Deferred<PromptReply>
}

interface Turn {
  readonly it: Prompt
  /** Whether whoever wanted the turn waits for it no more. */
  readonly isLeft: () => boolean
}

const untilTurnEnds = { name: "once", label: "Allow it until the end of this turn" }

const reachWish = (host: string, port: number): Wish => ({
  kind: "network",
  what: host,
  request: { kind: "address", url: `https://${host}:${port}` },
  options: [untilTurnEnds, { name: "reject", label: "Reject" }]
})

const writeRule = (place: string): RememberedRule => ({ kind: "write", what: place })

/** No question about a command that succeeded: it did without the file. */
const writeWish = async ({ failed, path, place }: RefusedWrite, directory: string): Promise<Wish> => ({
  kind: "write",
  what: path,
  // No rule allows it, so what is protected makes no difference.
  request: {
    kind: "change",
    places: await Promise.all([path, place ?? path].map((at) => placeOf(directory, at, nothingProtected)))
  },
  closed: place === undefined || !failed,
  options: [
    { name: "once", label: `Let commands write in ${place} until the end of this turn` },
    ...permissionOptions(place === undefined ? [] : [writeRule(place)]).slice(1)
  ]
})

const promptFor = ({ kind, options, what }: Wish, { promptId, runtimeSessionId }: Prompt): PendingPrompt => ({
  sessionId: runtimeSessionId,
  causePromptId: promptId.messageId,
  promptId: `${kind === "network" ? "host" : "write"}-${randomUUID()}`,
  kind: "permission",
  text: `${kind}: ${what}`,
  options,
  questions: []
})

const answerOf = (reply: PromptReply): Answer => (reply.kind === "permission" ? reply.reply : "reject")

export const askingAboutSandbox = Effect.fnUntraced(function* (
  runtime: AgentRuntimeShape,
  sandbox: SandboxShape | undefined,
  book: RuleBook
) {
  if (sandbox?.standing._tag !== "used") return runtime
  const open = new Map<string, Asked>()
  const hub = yield* PubSub.unbounded<RuntimeEvent>()
  const tell = (event: RuntimeEvent) => Effect.asVoid(PubSub.publish(hub, event))

  /** Waits for the reply without a limit; when the turn ends, nobody waits for it any more. */
  const ask = Effect.fnUntraced(function* (wish: Wish, { it, isLeft }: Turn) {
    const prompt = promptFor(wish, it)
    const answer = yield* Deferred.make<PromptReply>()
    open.set(prompt.promptId, { prompt, directory: it.directory, answer })
    yield* tell({ type: "prompting", ...prompt })
    const { kind: _kind, options: _options, questions: _questions, text: _text, ...at } = prompt
    const reply = yield* Deferred.await(answer).pipe(
      Effect.ensuring(
        Effect.suspend(() => {
          open.delete(prompt.promptId)
          // Nobody has answered: a process that parks or ends leaves the question to the next one.
          return isLeft() ? Effect.void : tell({ type: "replied", ...at })
        })
      )
    )
    return answerOf(reply)
  })

  const tellRefused = (wish: Wish, it: Prompt, rule: string | undefined) => {
    const { kind: _kind, options: _options, questions: _questions, ...told } = promptFor(wish, it)
    return tell({ type: "refused", ...told, ...(rule === undefined ? { sandbox: wish.kind } : { rule }) })
  }

  /** Decides about the wishes of one turn: each is asked once and told once. */
  const deciderOf = Effect.fnUntraced(function* (asking: Turn) {
    const { it } = asking
    const services = yield* Effect.context<never>()
    const run = Effect.runPromiseWith(services)
    const turn = new AbortController()
    yield* Effect.addFinalizer(() => Effect.sync(() => turn.abort()))
    const scope = yield* Effect.scope
    const decided = new Map<string, Promise<Answer>>()
    const told = new Set<string>()

    const tellOnce = async (wish: Wish, rule?: string) => {
      const line = `${rule} ${wish.kind} ${wish.what}`
      if (told.has(line)) return
      told.add(line)
      await run(tellRefused(wish, it, rule))
    }

    const askOnce = (key: string, answer: Effect.Effect<Answer>): Promise<Answer> => {
      const known = decided.get(key)
      if (known !== undefined) return known
      const answered = run(answer, { signal: turn.signal }).catch((): Answer => "reject")
      decided.set(key, answered)
      return answered
    }

    /** Undefined: nobody was asked. */
    const settle = async (wish: Wish, key: string, then: (answer: Answer) => Effect.Effect<Answer>) => {
      // Each time again: a rule may be about one port of a name.
      const decision = decide(await run(book.rules), wish.request)
      const rule = decision._tag === "deny" ? decision.rule : undefined
      if (rule !== undefined || wish.closed === true || it.role !== "author") {
        await tellOnce(wish, rule)
        return undefined
      }
      return askOnce(key, Effect.flatMap(ask(wish, asking), then))
    }

    /** The next command may write there. What cannot be prepared stays refused. */
    const openFor = (place: string) => (answer: Answer) => {
      if (answer === "reject") return Effect.succeed(answer)
      const remembered = answer === "always" ? book.remember([writeRule(place)]) : Effect.void
      return remembered.pipe(
        Effect.andThen(sandbox.open(it.directory, place)),
        Effect.provideService(Scope.Scope, scope),
        Effect.as(answer),
        Effect.catch(({ message }) => Effect.as(Effect.logWarning(message), "reject" as const))
      )
    }

    return {
      reach: async ({ host, port }) => {
        const answer = await settle(reachWish(host, port), `network ${host}`, Effect.succeed)
        return answer !== undefined && answer !== "reject"
      },
      write: async (refused) => {
        const wish = await writeWish(refused, it.directory)
        const place = refused.place ?? refused.path
        const answer = await settle(wish, `write ${place}`, openFor(place))
        if (answer === undefined) return "told"
        return answer === "reject" ? "rejected" : "allowed"
      }
    } satisfies Decider
  })

  const prompt: AgentRuntimeShape["prompt"] = (it) =>
    Effect.gen(function* () {
      let left = false
      yield* sandbox.decide(it.directory, yield* deciderOf({ it, isLeft: () => left }))
      const leave = Effect.sync(() => {
        left = true
      })
      return yield* Effect.onInterrupt(runtime.prompt(it), () => leave)
    }).pipe(Effect.scoped)

  return {
    ...runtime,
    prompt,
    events: Stream.merge(runtime.events, Stream.fromPubSub(hub)),
    pendingPrompts: (directory) =>
      Effect.map(runtime.pendingPrompts(directory), (prompts) => [
        ...prompts,
        ...[...open.values()].flatMap((asked) => (asked.directory === directory ? [asked.prompt] : []))
      ]),
    reply: (it) => {
      const asked = open.get(it.promptId)
      if (asked === undefined) return runtime.reply(it)
      return Effect.map(Deferred.succeed(asked.answer, it.reply), (first) => (first ? "delivered" : "gone"))
    }
  } satisfies AgentRuntimeShape
})
