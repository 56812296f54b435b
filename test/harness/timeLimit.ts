/**
 * For machines that are too slow to run all tests in the time that CI has: a test that would begin after
 * `REPRISE_TEST_UNTIL` (milliseconds since 1970) is skipped, and named in `coverage/outOfTime.txt`.
 *
 * This file is a setup file of the projects that start processes.
 */
import { appendFileSync, mkdirSync } from "node:fs"
import { relative } from "node:path"
import { beforeEach } from "vitest"

const until = Number(process.env["REPRISE_TEST_UNTIL"] ?? Number.POSITIVE_INFINITY)

beforeEach(({ skip, task }) => {
  if (Date.now() < until) return
  mkdirSync("coverage", { recursive: true })
  appendFileSync("coverage/outOfTime.txt", `${relative(".", task.file.filepath)} > ${task.name}\n`)
  skip("the time for tests is over")
})
