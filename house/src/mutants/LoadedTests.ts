/**
 * The runner that vitest takes in the thread of a mutation run. It loads the test files as usual, but runs none of
 * their tests. When the last file is loaded it runs what it is asked for, as often as it is asked, with another mutant
 * each time. Loading takes seconds and the tests of a mutant take milliseconds, so this is what makes a run fast.
 *
 * `beforeAll` of a suite is called before the first of its tests only, and `afterAll` never: both are for what all
 * tests of the thread share.
 */
import { relative } from "node:path"
import { BroadcastChannel } from "node:worker_threads"
import {
  inject,
  type RunnerTask,
  type RunnerTestCase,
  type RunnerTestFile,
  type RunnerTestSuite,
  TestRunner
} from "vitest"
import type { FromThread, Request, Result, ToThread } from "./protocol.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly channel: string
    readonly testFiles: number
    readonly mutant: string | undefined
  }
}

/** What Stryker's instrumented code reads and writes. */
interface Instrumented {
  activeMutant?: string | undefined
  currentTestId?: string | undefined
  hitCount?: number | undefined
  hitLimit?: number | undefined
  mutantCoverage?: unknown
}

const shared = globalThis as { __stryker__?: Instrumented }
const instrumented: Instrumented = shared.__stryker__ ?? {}
shared.__stryker__ = instrumented

const messageOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error))

const namesOf = (task: RunnerTask): ReadonlyArray<string> =>
  task.suite === undefined ? [task.name] : [...namesOf(task.suite), task.name]

type Hook = (context: unknown, suite: unknown) => unknown

/** What vitest calls when a test has ended, which its types do not show. */
interface EndedTest extends RunnerTestCase {
  onFinished?: ReadonlyArray<(context: unknown) => unknown>
  onFailed?: unknown
}

const isTest = (task: RunnerTask): task is RunnerTestCase => task.type === "test"

export default class LoadedTests extends TestRunner {
  readonly #tests = new Map<string, RunnerTestCase>()
  readonly #begun = new Set<RunnerTestSuite>()
  readonly #failures: Array<string> = []
  #files = 0

  override async onCollectStart(file: RunnerTestFile): Promise<void> {
    super.onCollectStart(file)
    instrumented.activeMutant = inject("mutant")
  }

  onBeforeRunFiles(files: ReadonlyArray<RunnerTestFile>): void {
    for (const file of files) {
      for (const { message } of file.result?.errors ?? []) this.#failures.push(`${file.name}: ${message}`)
      this.#collect(file)
    }
  }

  override async onAfterRunFiles(files: Array<RunnerTestFile>): Promise<void> {
    super.onAfterRunFiles(files)
    this.#files += files.length
    if (this.#files === inject("testFiles")) await this.#serve()
  }

  #collect(suite: RunnerTestSuite): void {
    for (const task of suite.tasks) {
      if (task.mode !== "run" && task.mode !== "queued") continue
      if (isTest(task)) {
        const title = `${relative(process.cwd(), task.file.filepath)}#${namesOf(task).join(" > ")}`
        let id = title
        for (let n = 2; this.#tests.has(id); n++) id = `${title} (${n})`
        this.#tests.set(id, task)
      } else this.#collect(task)
      task.mode = "skip"
    }
  }

  #serve(): Promise<void> {
    const channel = new BroadcastChannel(inject("channel"))
    const say = (message: FromThread) => channel.postMessage(message)
    return new Promise((resolve) => {
      channel.onmessage = ({ data }: { data: ToThread }) => {
        if ("run" in data) void this.#run(data.run).then((ran) => say({ ran }))
        else {
          channel.close()
          resolve()
        }
      }
      say({ loaded: this.#failures.length === 0 ? {} : { failure: this.#failures.join("\n") } })
    })
  }

  async #run({ tests = [...this.#tests.keys()].map((id) => ({ id })), mutant, hitLimit, bail }: Request) {
    Object.assign(instrumented, { activeMutant: mutant, hitCount: 0, hitLimit })
    const results: Array<Result> = []
    let late = false
    for (const { id, limitMs = 60_000 } of tests) {
      const result = await within(limitMs, this.#runTest(id))
      if (result === undefined) {
        late = true
        break
      }
      results.push(result)
      if (bail && result.failure !== undefined) break
    }
    return { results, late, hits: instrumented.hitCount ?? 0, coverage: instrumented.mutantCoverage }
  }

  async #runTest(id: string): Promise<Result> {
    const test = this.#tests.get(id)
    const run = test === undefined ? undefined : TestRunner.getTestFn(test)
    if (test === undefined || run === undefined) throw new Error(`There is no test '${id}'.`)
    const begin = performance.now()
    const failures: Array<string> = []
    const attempt = async (part: () => unknown) => {
      try {
        await part()
      } catch (error) {
        failures.push(messageOf(error))
      }
    }
    const suites = suitesOf(test)
    const cleanups: Array<unknown> = []
    await attempt(async () => {
      for (const suite of suites) {
        if (this.#begun.has(suite)) continue
        this.#begun.add(suite)
        for (const hook of TestRunner.getSuiteHooks(suite).beforeAll) await hook(suite)
      }
      instrumented.currentTestId = id
      for (const suite of suites)
        for (const hook of TestRunner.getSuiteHooks(suite).beforeEach)
          cleanups.push(await (hook as Hook)(test.context, suite))
      await run()
    })
    for (const suite of suites.toReversed())
      for (const hook of TestRunner.getSuiteHooks(suite).afterEach)
        await attempt(() => (hook as Hook)(test.context, suite))
    for (const cleanup of cleanups.reverse()) if (typeof cleanup === "function") await attempt(() => cleanup())
    const ended = test as EndedTest
    for (const finish of ended.onFinished ?? []) await attempt(() => finish(test.context))
    delete ended.onFinished
    delete ended.onFailed
    instrumented.currentTestId = undefined
    return {
      id,
      fileName: test.file.filepath,
      timeSpentMs: performance.now() - begin,
      ...(failures[0] === undefined ? {} : { failure: failures[0] })
    }
  }
}

const within = async <A>(limitMs: number, result: Promise<A>): Promise<A | undefined> => {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), limitMs)
  try {
    return await Promise.race([result, late])
  } finally {
    clearTimeout(timer)
  }
}

/** The suites of a test, the file first. */
const suitesOf = (test: RunnerTestCase): ReadonlyArray<RunnerTestSuite> => {
  const suites: Array<RunnerTestSuite> = []
  for (let suite = test.suite; suite !== undefined; suite = suite.suite) suites.unshift(suite)
  return suites.includes(test.file) ? suites : [test.file, ...suites]
}
