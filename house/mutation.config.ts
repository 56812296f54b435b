import { defineConfig } from "vitest/config"

/** The unit tests of the packages that `npm run mutate` changes. */
const packages = (process.env["REPRISE_MUTATED_PACKAGES"] ?? "").split(",")

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
    disableConsoleIntercept: false,
    include: packages.map((name) => `${name}/test/**/*.test.ts`),
    exclude: ["**/*.int.test.ts", "**/node_modules/**"]
  }
})
