/**
 * A test runner for Stryker that loads the tests once, and runs those of one mutant after another in the same thread.
 * Stryker's own runner for vitest loads them for each mutant, which takes a hundred times as long as the tests.
 *
 * A mutant that is reached while modules load needs them loaded again. So does one that seems to be noticed by a test
 * that then fails without it, too: something was left behind, and what the test said is worth nothing.
 */
import { BroadcastChannel } from "node:worker_threads"
import { createVitest, type Vitest } from "vitest/node"
import type { FromThread, Request, Response, ToThread } from "./protocol.ts"

/** A test that takes longer waits for what the mutant prevents. Most take milliseconds, on a machine that has time. */
const limitOf = (usualMs: number): number => 3_000 + 10 * usualMs

/** The parts of Stryker's interface that are used. */
interface MutantRun {
  readonly activeMutant: { readonly id: string }
  readonly testFilter?: ReadonlyArray<string>
  readonly hitLimit?: number
  readonly mutantActivation: "runtime" | "static"
  readonly disableBail: boolean
}

interface Coverage {
  readonly static: Readonly<Record<string, number>>
  readonly perTest: Readonly<Record<string, Readonly<Record<string, number>>>>
}

class LoadedThread {
  readonly #vitest: Vitest
  readonly #channel: BroadcastChannel
  readonly #over: Promise<unknown>
  #hear: (message: FromThread) => void = () => {}

  constructor(vitest: Vitest, name: string, start: () => Promise<unknown>) {
    this.#vitest = vitest
    this.#channel = new BroadcastChannel(name)
    this.#channel.onmessage = (event) => this.#hear((event as { data: FromThread }).data)
    this.#over = start()
  }

  /** Why the tests could not be loaded, if so. */
  async loaded(): Promise<string | undefined> {
    const message = await Promise.race([this.#next(), this.#over])
    if (message !== undefined && message !== null && typeof message === "object" && "loaded" in message)
      return (message as { loaded: { failure?: string } }).loaded.failure
    return `The tests could not be loaded. ${[...this.#vitest.state.errorsSet].map(String).join("\n")}`
  }

  async run(run: Request): Promise<Response> {
    const answer = this.#next()
    this.#say({ run })
    const message = await answer
    if (!("ran" in message)) throw new Error("The thread said that it is loaded, twice.")
    return message.ran
  }

  async end(): Promise<void> {
    this.#say({ end: true })
    await this.#over
    this.#channel.close()
  }

  #next(): Promise<FromThread> {
    return new Promise((resolve) => {
      this.#hear = resolve
    })
  }

  #say(message: ToThread): void {
    this.#channel.postMessage(message)
  }
}

class LoadedTestsRunner {
  #vitest: Vitest | undefined
  #thread: LoadedThread | undefined
  #threads = 0
  readonly #durations = new Map<string, number>()
  readonly #unsteady = new Set<string>()

  capabilities() {
    return { reloadEnvironment: true }
  }

  async init(): Promise<void> {
    this.#vitest = await createVitest("test", { config: "house/mutation.config.ts", watch: false })
  }

  async dryRun() {
    const { thread, failure } = await this.#load()
    if (failure !== undefined) return { status: "error", errorMessage: failure }
    const { results, coverage } = await thread.run({ bail: false })
    this.#learn(results)
    await this.#findUnsteady()
    const empty: Coverage = { static: {}, perTest: {} }
    return {
      status: "complete",
      mutantCoverage: coverage ?? empty,
      tests: results.map(({ id, fileName, timeSpentMs, failure }) => ({
        id,
        name: id.slice(id.indexOf("#") + 1),
        fileName,
        timeSpentMs,
        ...(failure === undefined ? { status: 0 } : { status: 1, failureMessage: failure })
      }))
    }
  }

  async mutantRun(run: MutantRun) {
    if (run.mutantActivation === "static") return this.#runAnew(run, run.activeMutant.id)
    await this.#prepare()
    const { thread } = this.#thread === undefined ? await this.#load() : { thread: this.#thread }
    const response = await thread.run(this.#requestOf(run))
    const failed = response.results.find(({ failure }) => failure !== undefined)
    if (response.late) {
      await this.#unload()
      return resultOf(run, response)
    }
    if (failed === undefined && !isEndless(run, response)) return resultOf(run, response)
    const repeated = await thread.run({ tests: failed === undefined ? [] : [{ id: failed.id }], bail: true })
    if (repeated.results.every(({ failure }) => failure === undefined)) return resultOf(run, response)
    return this.#runAnew(run)
  }

  /** Runs it in a thread of its own, in which the mutant may be active while modules load. */
  async #runAnew(run: MutantRun, mutant?: string) {
    await this.#prepare()
    await this.#unload()
    const { thread, failure } = await this.#load(mutant)
    const result =
      failure === undefined
        ? resultOf(run, await thread.run(this.#requestOf(run)))
        : { status: "killed", killedBy: [], failureMessage: failure, nrOfTests: 0 }
    await this.#unload()
    return result
  }

  /** Each process of Stryker gets to know the tests by itself. */
  async #prepare(): Promise<void> {
    if (this.#durations.size > 0) return
    const { thread } = await this.#load()
    this.#learn((await thread.run({ bail: false })).results)
    await this.#findUnsteady()
  }

  /** A test that fails without any mutant, in another order or when it is run again, says nothing about one. */
  async #findUnsteady(): Promise<void> {
    await this.#unload()
    const { thread } = await this.#load()
    for (let pass = 0; pass < 2; pass++) {
      const { results } = await thread.run({ tests: this.#inOrder([...this.#durations.keys()]), bail: false })
      for (const { failure, id } of results) if (failure !== undefined) this.#unsteady.add(id)
    }
    await this.#unload()
  }

  /** The quickest tests come first. They notice most mutants, and those that wait would wait in vain. */
  #inOrder(ids: ReadonlyArray<string>) {
    return ids
      .filter((id) => !this.#unsteady.has(id))
      .map((id) => ({ id, usualMs: this.#durations.get(id) ?? 0 }))
      .sort((one, other) => one.usualMs - other.usualMs)
      .map(({ id, usualMs }) => ({ id, limitMs: limitOf(usualMs) }))
  }

  #learn(results: Response["results"]): void {
    for (const { id, timeSpentMs } of results) this.#durations.set(id, timeSpentMs)
  }

  #requestOf({ activeMutant, testFilter, hitLimit, disableBail }: MutantRun): Request {
    return {
      mutant: activeMutant.id,
      bail: !disableBail,
      tests: this.#inOrder(testFilter ?? [...this.#durations.keys()]),
      ...(hitLimit === undefined ? {} : { hitLimit })
    }
  }

  async dispose(): Promise<void> {
    await this.#unload()
    await this.#vitest?.close()
  }

  async #load(mutant?: string) {
    const vitest = this.#vitest
    if (vitest === undefined) throw new Error("Not initialized.")
    vitest.state.filesMap.clear()
    vitest.state.errorsSet.clear()
    const name = `mutants-${process.pid}-${++this.#threads}`
    const specifications = await vitest.globTestSpecifications()
    vitest.provide("channel", name)
    vitest.provide("testFiles", specifications.length)
    vitest.provide("mutant", mutant)
    const thread = new LoadedThread(vitest, name, () => vitest.start())
    const failure = await thread.loaded()
    this.#thread = thread
    return { thread, failure }
  }

  async #unload(): Promise<void> {
    const thread = this.#thread
    this.#thread = undefined
    await thread?.end()
  }
}

const isEndless = ({ hitLimit }: MutantRun, { hits }: Response): boolean => hitLimit !== undefined && hits > hitLimit

const resultOf = (run: MutantRun, response: Response) => {
  const { results } = response
  if (response.late) return { status: "timeout", reason: "A test took too long." }
  if (isEndless(run, response)) return { status: "timeout", reason: `Reached more than ${run.hitLimit} times.` }
  const failed = results.filter(({ failure }) => failure !== undefined)
  return failed[0] === undefined
    ? { status: "survived", nrOfTests: results.length }
    : {
        status: "killed",
        killedBy: failed.map(({ id }) => id),
        failureMessage: failed[0].failure ?? "",
        nrOfTests: results.length
      }
}

const create = () => new LoadedTestsRunner()
create.inject = [] as const

export const strykerPlugins = [{ kind: "TestRunner", name: "loaded-tests", factory: create }]
