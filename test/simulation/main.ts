/**
 * Runs stories of the simulation (docs/design/proof.md): `npm run simulate -- --seed 7` shows one; `--from 0 --count 10000`
 * runs many, in two processes; `--nightly` a million.
 */
import { fork } from "node:child_process"
import { parseArgs } from "node:util"
import { bugs } from "./bugs.ts"
import { violationsOf } from "./checks/all.ts"
import { historiesOf } from "./checks/histories.ts"
import { addCoverage, addStory, type Coverage, coverageText, noCoverage } from "./coverage.ts"
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
    nightly: { type: "boolean", default: false },
    /** Plants one of the bugs of `bugs.ts`; `all`: finds each. */
    bug: { type: "string" },
    /** For the processes that this one starts. */
    part: { type: "boolean", default: false }
  }
})

const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** A part of the stories has ended, with what was seen and what was wrong. */
interface Part {
  readonly coverage: Coverage
  readonly failed: ReadonlyArray<number>
}

const play = (from: number, count: number, bug: Bug | undefined): Part => {
  const coverage = noCoverage()
  const failed: Array<number> = []
  for (let seed = from; seed < from + count; seed++) {
    const story = simulate(worldOf(seed), bug)
    const histories = historiesOf(story)
    addStory(coverage, story, histories)
    if (violationsOf(story, histories).length > 0) failed.push(seed)
  }
  return { coverage, failed }
}

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

/** Stories are handed out in small parts, so that no process waits for another at the end. */
const partSize = 250

const playInProcesses = (from: number, count: number, processes: number): Promise<Part> =>
  new Promise((resolve, reject) => {
    const whole: { coverage: Coverage; failed: Array<number> } = { coverage: noCoverage(), failed: [] }
    let next = from
    let running = processes
    const begin = Date.now()
    for (let n = 0; n < processes; n++) {
      const child = fork(import.meta.filename, ["--part"])
      const handOut = () => {
        if (next >= from + count) return void child.disconnect()
        const size = Math.min(partSize, from + count - next)
        child.send({ from: next, count: size })
        next += size
      }
      child.on("message", (part: Part) => {
        addCoverage(whole.coverage, part.coverage)
        whole.failed.push(...part.failed)
        for (const seed of part.failed) say(`something is wrong with seed ${seed}`)
        const { stories } = whole.coverage
        if (stories % 10_000 < partSize) {
          say(`${stories} stories, ${Math.round((stories / (Date.now() - begin)) * 1000)} a second`)
        }
        handOut()
      })
      child.on("exit", (code) => {
        running -= 1
        if (code !== 0) reject(new Error(`A process of the simulation ended with ${code}.`))
        else if (running === 0) resolve(whole)
      })
      handOut()
    }
  })

const serveParts = (): void => {
  process.on("message", ({ count, from }: { readonly from: number; readonly count: number }) => {
    process.send?.(play(from, count, undefined))
  })
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
  if (values.part) return serveParts()
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
  const count = values.nightly ? 1_000_000 : Number(values.count)
  const begin = Date.now()
  const { coverage, failed } = await playInProcesses(Number(values.from), count, Number(values.processes))
  say(coverageText(coverage))
  say(`${Math.round((count / (Date.now() - begin)) * 10_000) / 10} stories a second`)
  for (const seed of failed.slice(0, 10)) tellFailure(seed, undefined)
  if (failed.length > 0) process.exitCode = 1
}

await main()
