/**
 * Runs stories of the simulation (docs/design/proof.md): `npm run simulate -- --seed 7` shows one; `--from 0 --count 10000`
 * plays many, in two processes; `--nightly` a million; `--coverage` prints what they showed.
 */
import { parseArgs } from "node:util"
import { bugs } from "./bugs.ts"
import { coverageText, summaryText } from "./coverage.ts"
import { playMany } from "./manyStories.ts"
import { failureOf, findFailure, shrink } from "./shrink.ts"
import { type Bug, simulate } from "./simulate.ts"
import { storyText } from "./storyText.ts"
import { faultText } from "./world/faults.ts"
import { worldOf } from "./world/World.ts"

const { values } = parseArgs({
  options: {
    /** Shows one story. */
    seed: { type: "string" },
    from: { type: "string", default: "0" },
    count: { type: "string", default: "10000" },
    processes: { type: "string", default: "2" },
    /** Keeps progress in this file, and takes up what is there. */
    keep: { type: "string" },
    /** Prints everything that was counted. */
    coverage: { type: "boolean", default: false },
    nightly: { type: "boolean", default: false },
    /** Plants one of the bugs of `bugs.ts`; `all`: finds each. */
    bug: { type: "string" }
  }
})

const say = (text: string): void => void process.stdout.write(`${text}\n`)

const tellFailure = (seed: number, bug: Bug | undefined): void => {
  const failure = failureOf(worldOf(seed), bug)
  if (failure === undefined) {
    say(`seed ${seed}: nothing is wrong`)
    return
  }
  const { violations, world } = shrink(failure, bug)
  say(`seed ${seed}, with ${world.faults.length} of ${failure.world.faults.length} faults:`)
  for (const fault of world.faults) say(`  ${faultText(fault)}`)
  for (const { check, detail } of violations) say(`  ${check}: ${detail.slice(0, 600)}`)
}

const bugNamed = (name: string): Bug => {
  const bug = bugs[name]
  if (bug === undefined) throw new Error(`There is no bug '${name}'. There are: ${Object.keys(bugs).join("; ")}.`)
  return bug
}

const findBug = (name: string, from: number, count: number): void => {
  const bug = bugNamed(name)
  const found = findFailure(from, count, bug)
  if (found === undefined) {
    process.exitCode = 1
    say(`'${name}' is not found in ${count} stories`)
    return
  }
  const { violations, world } = shrink(found, bug)
  say(
    `'${name}': seed ${world.seed}, ${world.faults.length} faults, ${violations[0]?.check}: ${violations[0]?.detail.slice(0, 160)}`
  )
}

const main = async (): Promise<void> => {
  const bug = values.bug === undefined || values.bug === "all" ? undefined : bugNamed(values.bug)
  if (values.seed !== undefined) {
    const seed = Number(values.seed)
    say(storyText(simulate(worldOf(seed), bug)))
    return tellFailure(seed, bug)
  }
  if (values.bug === "all") {
    for (const name of Object.keys(bugs)) findBug(name, Number(values.from), Number(values.count))
    return
  }
  if (values.bug !== undefined) return findBug(values.bug, Number(values.from), Number(values.count))
  const begin = Date.now()
  const from = Number(values.from)
  const count = values.nightly ? 1_000_000 : Number(values.count)
  say(`${count} stories from seed ${from} on`)
  const { coverage, failed, seconds } = await playMany({
    from,
    count,
    processes: Number(values.processes),
    file: values.keep,
    say
  })
  if (values.coverage) say(coverageText(coverage))
  say(summaryText(coverage))
  say(`${(coverage.stories / seconds).toFixed(1)} stories a second, ${Math.round((Date.now() - begin) / 1_000)} s`)
  for (const seed of failed.slice(0, 10)) tellFailure(seed, undefined)
  if (failed[0] === undefined) return say("nothing is wrong")
  say(`something is wrong with ${failed.length} stories; 'npm run simulate -- --seed ${failed[0]}' shows the first`)
  process.exitCode = 1
}

await main()
