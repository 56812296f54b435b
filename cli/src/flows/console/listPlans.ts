/** The plans of the repository for the web console, which everybody who is signed in may ask for again and again. */
import { lstat } from "node:fs/promises"
import { join } from "node:path"
import { maxPlanLength } from "@reprise/plan"
import { readForeignText } from "@reprise/process"
import type { ConsolePlan } from "@reprise/protocol"
import { Clock, Effect, Fiber } from "effect"
import type { Project } from "../../project/Project.ts"
import { ownMarkdown } from "../../project/trackedFiles.ts"
import { mayBePlan } from "./listedPlan.ts"
import { makeParseAside, type ParseAside } from "./parsingAside.ts"

export interface PlanLimits {
  /** Of more markdown files only the first are looked at, as git lists them. */
  readonly mostPaths: number
  /** Of those, only what was changed last is read. */
  readonly mostFiles: number
  /** To parse one plan. */
  readonly parsingMs: number
  /** After this no further file is read: the next list goes on. */
  readonly readingMs: number
  /** Characters of the whole list. What does not fit, the oldest, is left out. */
  readonly mostCharacters: number
}

export const planLimits: PlanLimits = {
  mostPaths: 20_000,
  mostFiles: 500,
  parsingMs: 1_000,
  readingMs: 10_000,
  mostCharacters: 4 * 1024 * 1024
}

/** What a file was when it was parsed. While it stays the same, it is not read again. */
interface Known {
  readonly stamp: string
  readonly plan: ConsolePlan | undefined
}

interface Dated {
  readonly path: string
  readonly changed: number
  readonly stamp: string
}

/** Undefined: there is no file of that name, as where a link is. */
const dated = ({ root }: Project, path: string): Effect.Effect<Dated | undefined> =>
  Effect.promise(() =>
    lstat(join(root, path)).then(
      (found) =>
        found.isFile()
          ? { path, changed: found.mtimeMs, stamp: `${found.mtimeMs} ${found.ctimeMs} ${found.size} ${found.ino}` }
          : undefined,
      () => undefined
    )
  )

/** Undefined: it is no plan, or cannot be read. */
const readPlan = ({ root }: Project, path: string, { parse }: ParseAside) =>
  Effect.tryPromise(() => readForeignText(join(root, path), { largestBytes: 3 * maxPlanLength, follow: false })).pipe(
    Effect.orElseSucceed(() => undefined),
    Effect.flatMap((text) => (text === undefined || !mayBePlan(text) ? Effect.undefined : parse({ path, text })))
  )

const fitting = (plans: ReadonlyArray<ConsolePlan>, most: number): ReadonlyArray<ConsolePlan> => {
  let left = most
  const end = plans.findIndex((plan) => {
    left -= JSON.stringify(plan).length
    return left < 0
  })
  return end === -1 ? plans : plans.slice(0, end)
}

/** Whoever asks while it is being read gets what is being read. It is read to its end, whoever leaves. */
const shared = <A>(reading: Effect.Effect<A>): Effect.Effect<A> => {
  let underWay: Fiber.Fiber<A> | undefined
  const begin = Effect.gen(function* () {
    const fiber = yield* Effect.forkDetach(reading)
    underWay = fiber
    fiber.addObserver(() => {
      underWay = undefined
    })
    return yield* Fiber.join(fiber)
  })
  return Effect.suspend(() => (underWay === undefined ? begin : Fiber.join(underWay)))
}

/** Gives the plans among the markdown files, what was changed last first. */
export const makeListPlans = (project: Project, limits = planLimits): Effect.Effect<ReadonlyArray<ConsolePlan>> => {
  let known: ReadonlyMap<string, Known> = new Map()
  const reading = Effect.gen(function* () {
    const paths = (yield* ownMarkdown(project.root)).slice(0, limits.mostPaths)
    const found = yield* Effect.forEach(paths, (path) => dated(project, path), { concurrency: 16 })
    const newest = found
      .filter((one) => one !== undefined)
      .toSorted((a, b) => b.changed - a.changed)
      .slice(0, limits.mostFiles)
    const parser = yield* makeParseAside(limits.parsingMs)
    const began = yield* Clock.currentTimeMillis
    const now = new Map<string, Known>()
    let isBegun = false
    for (const { path, stamp } of newest) {
      const before = known.get(path)
      if (before?.stamp === stamp) now.set(path, before)
      // Each list gets on by one file at least.
      else if (!isBegun || (yield* Clock.currentTimeMillis) - began < limits.readingMs) {
        isBegun = true
        now.set(path, { stamp, plan: yield* readPlan(project, path, parser) })
      }
    }
    known = now
    return fitting(
      newest.flatMap(({ path }) => now.get(path)?.plan ?? []),
      limits.mostCharacters
    )
  })
  return shared(Effect.scoped(reading))
}
