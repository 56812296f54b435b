/** Plays many stories in several processes, and keeps what is done in a file, so that a search can be taken up again. */
import { fork } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { constants, tmpdir } from "node:os"
import { join } from "node:path"
import { Array as Arr } from "effect"
import { bundleProgram } from "../harness/bundleProgram.ts"
import { addCoverage, type Coverage, noCoverage } from "./coverage.ts"
import type { Part } from "./playParts.ts"
import { seedsFrom } from "./world/World.ts"

/** Stories are handed out in small parts, so that no process waits for another at the end. */
const partSize = 25
const toldEvery = 1_000
/** Young objects may be many before they are collected, and nobody reads the stack traces of a story. */
const nodeOptions = ["--max-semi-space-size=128", "--min-semi-space-size=128", "--stack-trace-limit=0"]

export interface Found {
  readonly coverage: Coverage
  readonly failed: Array<number>
  /** The parts that are done, by their first seeds. */
  readonly parts: Array<number>
  seconds: number
}

export interface Search {
  readonly from: number
  readonly count: number
  readonly processes: number
  /** Where progress is kept. */
  readonly file: string | undefined
  readonly say: (text: string) => void
}

const nothingFound = (): Found => ({ coverage: noCoverage(), failed: [], parts: [], seconds: 0 })

const takeUp = (file: string | undefined): Found =>
  file !== undefined && existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : nothingFound()

/** In one step, since whoever reads it may come at any time. */
const keep = (file: string | undefined, found: Found): void => {
  if (file === undefined) return
  writeFileSync(`${file}.new`, JSON.stringify(found))
  renameSync(`${file}.new`, file)
}

const rateOf = (stories: number, seconds: number) => (stories / Math.max(seconds, 0.001)).toFixed(1)

/** Of this process: removed when it ends, also when it is stopped at the terminal. */
const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "reprise-simulation-"))
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => process.exit(128 + constants.signals[signal]))
  }
  return folder
}

const playWith = (program: string, { count, file, from, processes, say }: Search): Promise<Found> =>
  new Promise((resolve, reject) => {
    const found = takeUp(file)
    const done = new Set(found.parts)
    const waiting = Arr.chunksOf(seedsFrom(from, count), partSize).filter(([first]) => !done.has(first))
    const begin = Date.now() - found.seconds * 1_000
    let told = Math.floor(found.coverage.stories / toldEvery)
    let running = processes

    const note = (part: Part) => {
      addCoverage(found.coverage, part.coverage)
      found.failed.push(...part.failed)
      found.parts.push(part.from)
      found.seconds = (Date.now() - begin) / 1_000
      keep(file, found)
      for (const seed of part.failed) say(`something is wrong with seed ${seed}`)
      const { stories } = found.coverage
      if (Math.floor(stories / toldEvery) === told) return
      told = Math.floor(stories / toldEvery)
      say(`${stories} of ${count} stories, ${rateOf(stories, found.seconds)} a second, ${found.failed.length} wrong`)
    }
    for (let n = 0; n < processes; n++) {
      const child = fork(program, { execArgv: nodeOptions })
      const handOut = () => {
        const next = waiting.shift()
        if (next === undefined) child.disconnect()
        else child.send(next)
      }
      child.on("message", (part: Part) => {
        note(part)
        handOut()
      })
      child.on("exit", (code) => {
        running -= 1
        if (code !== 0) reject(new Error(`A process of the simulation ended with ${code}.`))
        else if (running === 0) resolve(found)
      })
      handOut()
    }
  })

/** In processes that run a bundle, whose stories take a tenth less time. */
export const playMany = async (search: Search): Promise<Found> =>
  playWith(await bundleProgram(join(import.meta.dirname, "playParts.ts"), temporaryFolder()), search)
