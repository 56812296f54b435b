import { defineConfig } from "vitest/config"

/** The package that `npm run nightly -- mutants` changes. */
const changed = process.env["REPRISE_MUTATED_PACKAGE"] ?? ""

/**
 * Each of these takes seconds, and a mutant that the others do not notice would have to wait for them: models that walk
 * thousands of steps, and stories of workers. What only they notice counts as not noticed, so scores are a little too low.
 */
const slow = [
  "services/orchestrator/test/{model,modelFindings,notices}.test.ts",
  "services/session-manager/test/{watchActivity,worker,*.worker}.test.ts"
]

export default defineConfig({
  test: {
    runner: "house/src/mutants/LoadedTests.ts",
    pool: "threads",
    maxWorkers: 1,
    isolate: false,
    // Stryker ends what takes too long.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    reporters: [],
    include: [`${changed}/test/**/*.test.ts`],
    exclude: ["**/*.int.test.ts", "**/node_modules/**", ...slow]
  }
})
