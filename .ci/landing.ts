/**
 * What one run of CI does of what takes turns: the stages that take long for what they tell, and the seeds of the
 * simulation's stories. Both follow from the commit alone, so the same commit runs the same, and the next one something else.
 */

/** Every landing runs one of them. */
export const stagesInTurn = ["cluster", "agents", "without-engine"] as const

export type StageInTurn = (typeof stagesInTurn)[number]

export interface Landing {
  /** Chosen by. The hash of a commit, or where none is known the number of a day. */
  readonly number: bigint
  /** For humans: what it was chosen by. */
  readonly name: string
}

const dayMs = 24 * 60 * 60_000

/** `commit` is a hash in hexadecimal digits; undefined where the files are not in a repository of git. */
export const landingOf = (commit: string | undefined, nowMs: number): Landing => {
  if (commit !== undefined) return { number: BigInt(`0x${commit}`), name: `commit ${commit.slice(0, 12)}` }
  const date = new Date(nowMs).toISOString().slice(0, 10)
  return { number: BigInt(Math.floor(nowMs / dayMs)), name: `no commit is known, so ${date}` }
}

const isInTurn = (name: string): name is StageInTurn => stagesInTurn.some((stage) => stage === name)

/**
 * The stages that a landing runs. `wanted` overrides its turn: `all`, or names with commas between them; an unknown name
 * is an error.
 */
export const stagesOf = ({ number }: Landing, wanted = ""): ReadonlyArray<StageInTurn> => {
  if (wanted === "all") return stagesInTurn
  if (wanted === "") return stagesInTurn.filter((_, index) => BigInt(index) === number % BigInt(stagesInTurn.length))
  return wanted.split(",").map((name) => {
    if (isInTurn(name)) return name
    throw new Error(`No stage '${name}' takes turns. Say 'all', or some of ${stagesInTurn.join(",")}.`)
  })
}

const longTurns = 3n

/** Which part of the long tests a landing runs: `2/3`. Empty, if somebody wants all stages: all of them. */
export const longTestsOf = ({ number }: Landing, wanted = ""): string =>
  wanted === "all" ? "" : `${((number / BigInt(stagesInTurn.length)) % longTurns) + 1n}/${longTurns}`

/** Two thousand stories come from 3 200 seeds. */
const seedsOfLanding = 4_000n
/** Seeds stay below 2³¹. */
const rangesOfSeeds = 500_000n

/** The first seed of a landing's stories. Two landings have the same, or seeds in common, once in 500 000 times. */
export const firstSeedOf = ({ number }: Landing): number => Number((number % rangesOfSeeds) * seedsOfLanding)

/** Text for humans: what this landing runs, and what others. */
export const landingText = (landing: Landing, chosen: ReadonlyArray<StageInTurn>, longTests: string): string => {
  const others = stagesInTurn.filter((stage) => !chosen.includes(stage))
  return [
    `In turns (${landing.name}): this landing runs ${chosen.join(", ")}, ${longTests === "" ? "all" : `part ${longTests}`} of the long tests, and stories from seed ${firstSeedOf(landing)} on.`,
    ...(others.length === 0
      ? []
      : [`Other landings run ${others.join(", ")} and the other long tests; REPRISE_CI_STAGES=all runs everything.`])
  ].join(" ")
}
