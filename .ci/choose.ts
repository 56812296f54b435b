/**
 * Prints for `.ci/run` what takes turns: the first seed of the simulation's stories, the part of the long tests (`2/3`, or
 * `all`) and the stages of this landing, as one line of words; and what that means, for humans, on stderr. `REPRISE_CI_STAGES` overrides the stages: `all`, or
 * `cluster,test:agents`.
 */
import { spawnSync } from "node:child_process"
import { firstSeedOf, landingOf, landingText, longTestsOf, stagesOf } from "./landing.ts"

/** The commit of this folder; undefined in one that git does not know, or that lies in somebody else's repository. */
const commitOfThisFolder = (): string | undefined => {
  const { status, stdout } = spawnSync("git", ["rev-parse", "--show-prefix", "HEAD"], { encoding: "utf8" })
  const [prefix, commit] = status === 0 ? stdout.split("\n") : []
  return prefix === "" ? commit : undefined
}

const landing = landingOf(commitOfThisFolder(), Date.now())
const chosen = stagesOf(landing, process.env["REPRISE_CI_STAGES"])
const longTests = longTestsOf(landing, process.env["REPRISE_CI_STAGES"])
process.stderr.write(`${landingText(landing, chosen, longTests)}\n`)
process.stdout.write(`${[firstSeedOf(landing), longTests === "" ? "all" : longTests, ...chosen].join(" ")}\n`)
