/**
 * The proxy through which commands reach the names that they may. It is the one of `@anthropic-ai/sandbox-runtime`, of
 * which a process can have one: it also checks what an allowed name resolves to, so that none leads to this machine.
 */
import { type Mark, variableOf } from "@reprise/process"
import { Effect, Schema, Semaphore } from "effect"
import type { ProxyAccess } from "../command/shellScript.ts"

export class ProxyFailed extends Schema.TaggedError<ProxyFailed>()("ProxyFailed", { cause: Schema.Defect() }) {
  override get message() {
    const cause = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `The sandbox's proxy could not be started: ${cause}`
  }
}

type Runtime = typeof import("@anthropic-ai/sandbox-runtime")

const configOf = (names: ReadonlyArray<string>) => ({
  network: { allowedDomains: [...names], deniedDomains: [] },
  filesystem: { denyRead: [], allowWrite: [], denyWrite: [] },
  // It insists on a ripgrep, with which it would search working trees; nothing of ours lets it.
  ripgrep: { command: process.execPath }
})

const attempt = <A>(run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new ProxyFailed({ cause }) })

/** A program that is started meanwhile has the mark in its environment. */
const marked = async (mark: Mark, run: () => Promise<void>): Promise<void> => {
  const variable = variableOf(mark)
  Object.assign(process.env, variable)
  try {
    await run()
  } finally {
    for (const name of Object.keys(variable)) delete process.env[name]
  }
}

/** The library starts a program beside this process, which nobody ends when this process is killed: the mark finds it. */
const start = async ({ SandboxManager }: Runtime, names: ReadonlyArray<string>, mark: Mark): Promise<ProxyAccess> => {
  await marked(mark, () => SandboxManager.initialize(configOf(names), undefined, false))
  const socket = SandboxManager.getLinuxHttpSocketPath()
  const password = SandboxManager.getProxyAuthToken()
  if (socket === undefined || password === undefined) throw new Error("it has no address")
  return { socket, username: "srt", password }
}

/**
 * Gives access to a proxy for these names and those of earlier calls. It is started with the first call, which takes half a
 * second, and ends with the scope. `mark`: what its programs are known by.
 */
export const makeProxy = Effect.fnUntraced(function* (mark: Mark) {
  let running: { readonly runtime: Runtime; readonly access: ProxyAccess } | undefined
  let names: ReadonlySet<string> = new Set()
  const oneByOne = Semaphore.makeUnsafe(1)
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() =>
      running === undefined
        ? Effect.void
        : Effect.ignore(attempt(() => running?.runtime.SandboxManager.reset() ?? Promise.resolve()))
    )
  )
  return (wanted: ReadonlyArray<string>) =>
    attempt(async () => {
      const isNew = wanted.some((name) => !names.has(name))
      const all = new Set([...names, ...wanted])
      if (running === undefined) {
        const runtime = await import("@anthropic-ai/sandbox-runtime")
        running = { runtime, access: await start(runtime, [...all], mark) }
      } else if (isNew) running.runtime.SandboxManager.updateConfig(configOf([...all]))
      // A name that the proxy does not take must not come with every later one.
      names = all
      return running.access
    }).pipe(oneByOne.withPermits(1))
})
