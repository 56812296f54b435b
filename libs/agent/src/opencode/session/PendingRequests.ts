/**
 * The prompts that agents wait for. OpenCode's own list is authoritative, but OpenCode fails to list anything while a
 * request is open whose tool call lacks an optional argument (measured). So prompts known from events are kept too.
 */
import type { PermissionRequest } from "@opencode-ai/sdk/v2/client"
import type { SandboxShape } from "@reprise/sandbox"
import { Effect, Option } from "effect"
import type { PendingPrompt, RuntimeEvent } from "../../RuntimeEvent.ts"
import { decide, rememberable } from "../../rules/decide.ts"
import type { RememberedRule } from "../../rules/PermissionRules.ts"
import { refusalOf } from "../../rules/permissionOptions.ts"
import { type RuleBook, rulesInMemory } from "../../rules/RuleBook.ts"
import type { Asked } from "../events/ActivityTracker.ts"
import type { Calls, Refused, Unreachable } from "../server/calls.ts"
import { permissionPrompt, questionPrompt } from "./convertRequest.ts"
import { isApproved, toolRequestOf } from "./permissionRules.ts"
import type { SessionFacts } from "./SessionFacts.ts"

interface Kept {
  readonly prompt: PendingPrompt
  readonly directory: string
  /** What `always` writes. */
  readonly rules: ReadonlyArray<RememberedRule>
}

/** Answered without a human, or else what a human may allow for good. */
type Settled = { readonly _tag: "answered" } | { readonly _tag: "open"; readonly rules: ReadonlyArray<RememberedRule> }

/** Of an answer. `gone`: somebody answered meanwhile, or the turn is over. */
type Outcome = "delivered" | "gone" | "failed"

const open: Settled = { _tag: "open", rules: [] }

const rememberedAnswers = 1_000

/** What OpenCode's list says: the prompts that are open, and how that differs from what was known. */
export interface Refreshed {
  readonly open: ReadonlyArray<PendingPrompt>
  readonly appeared: ReadonlyArray<PendingPrompt>
  readonly gone: ReadonlyArray<PendingPrompt>
}

type At = (sessionId: string) => { readonly sessionId: string; readonly causePromptId?: string }

interface PendingRequestsOptions {
  readonly sandbox?: SandboxShape | undefined
  readonly protectedPaths: SandboxShape["protectedPaths"]
  readonly book?: RuleBook
  /** Told of what a rule refused. */
  readonly tell?: (event: RuntimeEvent) => Effect.Effect<void>
}

export class PendingRequests {
  readonly #calls: Calls
  readonly #facts: SessionFacts
  readonly #at: At
  readonly #sandbox: SandboxShape | undefined
  readonly #protectedPaths: SandboxShape["protectedPaths"]
  readonly #book: RuleBook
  readonly #tell: (event: RuntimeEvent) => Effect.Effect<void>
  readonly #kept = new Map<string, Kept>()
  /** Answered a moment ago: a list that OpenCode gave before still has them. */
  readonly #answered = new Set<string>()
  readonly #worktrees = new Map<string, string>()

  constructor(calls: Calls, facts: SessionFacts, at: At, options: PendingRequestsOptions) {
    this.#book = options.book ?? rulesInMemory()
    this.#sandbox = options.sandbox
    this.#protectedPaths = options.protectedPaths
    this.#tell = options.tell ?? (() => Effect.void)
    this.#calls = calls
    this.#facts = facts
    this.#at = at
  }

  /**
   * Handles a request: gives the prompt for a human, or none when it is known or a rule or the session's mode decides. It
   * belongs to the directory in which it was found if its session is not known.
   */
  asked(asked: Asked, found = ""): Effect.Effect<Option.Option<PendingPrompt>> {
    return Effect.gen({ self: this }, function* () {
      const root = yield* this.#facts.findRoot(this.#calls, asked.request.sessionID)
      const directory = Option.match(root, { onNone: () => found, onSome: (it) => it.directory })
      const settled = asked.type === "permission-asked" ? yield* this.#settle(asked.request) : open
      if (settled._tag === "answered") return Option.none()
      const { rules } = settled
      const at = this.#at(asked.request.sessionID)
      const prompt =
        asked.type === "permission-asked"
          ? permissionPrompt(asked.request, at, rules)
          : questionPrompt(asked.request, at)
      if (this.#answered.has(prompt.promptId)) return Option.none()
      const isKnown = this.#kept.has(prompt.promptId)
      this.#kept.set(prompt.promptId, { prompt, directory, rules })
      return isKnown ? Option.none() : Option.some(prompt)
    })
  }

  /** What `always` writes for a prompt that is known. */
  rulesOf(promptId: string): ReadonlyArray<RememberedRule> {
    return this.#kept.get(promptId)?.rules ?? []
  }

  /** Forgets an answered prompt; returns whether it was open. */
  replied(promptId: string): boolean {
    this.#answered.add(promptId)
    for (const oldest of this.#answered) {
      if (this.#answered.size <= rememberedAnswers) break
      this.#answered.delete(oldest)
    }
    return this.#kept.delete(promptId)
  }

  /** Whether prompts of the directory are known. */
  someIn(directory: string): boolean {
    return this.#inDirectory(directory).length > 0
  }

  #inDirectory(directory: string): ReadonlyArray<PendingPrompt> {
    return [...this.#kept.values()].flatMap((it) => (it.directory === directory ? [it.prompt] : []))
  }

  /** The known prompts of a session. */
  ofSession(root: string): ReadonlyArray<PendingPrompt> {
    return [...this.#kept.values()].flatMap(({ prompt }) => (prompt.sessionId === root ? [prompt] : []))
  }

  /** Asks OpenCode, and approves the requests that a mode allows. */
  refresh(directory: string): Effect.Effect<Refreshed, Unreachable | Refused> {
    return Effect.gen({ self: this }, function* () {
      // A prompt that comes while OpenCode answers is not in its answer, and stays.
      const known = this.#inDirectory(directory)
      const permissions = yield* this.#calls
        .once("pending permissions", (client, signal) => client.permission.list({ directory }, { signal }))
        .pipe(
          Effect.asSome,
          Effect.catchTag("Refused", () => Effect.succeedNone)
        )
      const questions = yield* this.#calls.once("pending questions", (client, signal) =>
        client.question.list({ directory }, { signal })
      )
      const asked: ReadonlyArray<Asked> = [
        ...Option.getOrElse(permissions, () => []).map((request) => ({ type: "permission-asked" as const, request })),
        ...questions.map((request) => ({ type: "question-asked" as const, request }))
      ]
      const listed = new Set(asked.map(({ request }) => request.id))
      const gone = known.filter(
        ({ kind, promptId }) =>
          (kind === "question" || Option.isSome(permissions)) && !listed.has(promptId) && this.replied(promptId)
      )
      const appeared = (yield* Effect.forEach(asked, (it) => this.asked(it, directory))).flatMap(Option.toArray)
      return { open: this.#inDirectory(directory), appeared, gone }
    })
  }

  #settle(request: PermissionRequest): Effect.Effect<Settled> {
    return Effect.gen({ self: this }, function* () {
      const root = yield* this.#facts.findRoot(this.#calls, request.sessionID)
      // Nobody set rules for a session that Reprise did not make.
      if (Option.isNone(root) || Option.isNone(root.value.mode)) return open
      const { directory, mode } = root.value
      const worktree = yield* this.#worktreeOf(directory)
      if (Option.isNone(worktree)) return open
      const sandboxed =
        this.#sandbox !== undefined && Option.exists(mode, this.#sandbox.covers) && this.#sandbox.guards(directory)
      const protectedPaths = () => Effect.runPromise(this.#protectedPaths(directory))
      const context = { mode, directory, worktree: worktree.value, sandboxed, protectedPaths }
      const wanted = yield* Effect.promise(() => toolRequestOf(request, context))
      const rules = yield* this.#book.rules
      const decision = decide(rules, wanted)
      if (decision._tag === "deny") {
        const { rule } = decision
        const outcome = yield* this.#reply(request, directory, { reply: "reject", message: refusalOf(rule) })
        // Who finds it answered already is not the one who refused it: it is told once.
        if (outcome === "delivered") yield* this.#tellRefused(request, rule)
        if (outcome !== "failed") return { _tag: "answered" }
      } else if (decision._tag === "allow" || (decision._tag === "unsaid" && (yield* isApproved(request, context)))) {
        if ((yield* this.#reply(request, directory, { reply: "once" })) !== "failed") return { _tag: "answered" }
      }
      // An agent that repeats itself is a question of its own each time.
      return { _tag: "open", rules: request.permission === "doom_loop" ? [] : rememberable(rules, wanted) }
    })
  }

  #tellRefused(request: PermissionRequest, rule: string): Effect.Effect<void> {
    const at = this.#at(request.sessionID)
    const { promptId, text } = permissionPrompt(request, at, [])
    return this.#tell({ type: "refused", ...at, promptId, text, rule })
  }

  #reply(
    { id: requestID }: PermissionRequest,
    directory: string,
    answer: { readonly reply: "once" | "reject"; readonly message?: string }
  ): Effect.Effect<Outcome> {
    return this.#calls
      .once("answering", (client, signal) => client.permission.reply({ requestID, directory, ...answer }, { signal }))
      .pipe(
        Effect.as<Outcome>("delivered"),
        Effect.catchTag("Refused", ({ status }) => Effect.succeed<Outcome>(status === 404 ? "gone" : "failed")),
        Effect.orElseSucceed((): Outcome => "failed")
      )
  }

  #worktreeOf(directory: string): Effect.Effect<Option.Option<string>> {
    return Effect.suspend(() => {
      const known = this.#worktrees.get(directory)
      if (known !== undefined) return Effect.succeed(Option.some(known))
      return this.#calls
        .once("paths", (client, signal) => client.path.get({ directory }, { signal }))
        .pipe(
          Effect.map(({ worktree }) => {
            this.#worktrees.set(directory, worktree)
            return Option.some(worktree)
          }),
          Effect.orElseSucceed(() => Option.none<string>())
        )
    })
  }
}
