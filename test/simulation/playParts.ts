/** A process of a search: plays the stories of each list of seeds that it is sent, and says what was seen. */
import { violationsOf } from "./checks/all.ts"
import { historiesOf } from "./checks/histories.ts"
import { addStory, type Coverage, noCoverage } from "./coverage.ts"
import { simulate } from "./simulate.ts"
import { worldOf } from "./world/World.ts"

/** A part of the stories has ended, with what was seen and what was wrong. */
export interface Part {
  /** Its first seed. */
  readonly from: number
  readonly coverage: Coverage
  readonly failed: ReadonlyArray<number>
}

const isWrong = (seed: number, coverage: Coverage): boolean => {
  try {
    const story = simulate(worldOf(seed))
    const histories = historiesOf(story)
    addStory(coverage, story, histories)
    return violationsOf(story, histories).length > 0
  } catch {
    return true
  }
}

const play = (seeds: ReadonlyArray<number>): Part => {
  const coverage = noCoverage()
  return { from: seeds[0] ?? 0, coverage, failed: seeds.filter((seed) => isWrong(seed, coverage)) }
}

process.on("message", (seeds: ReadonlyArray<number>) => {
  process.send?.(play(seeds))
})
