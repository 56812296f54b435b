import { defineConfig } from "vitest/config"

/** As many files at once as there are processors: first what is quick, then the rest. */
const inOrder = (groupOrder: number) => ({ maxWorkers: "100%", sequence: { groupOrder } })
const quick = inOrder(1)
/** One group: at the end of each a processor has nothing to do. The small files of the integration tests come last. */
const slow = inOrder(2)

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...quick,
          name: "unit",
          // Pure: nothing to isolate, and half of the time would go into imports.
          isolate: false,
          include: ["{libs,services}/*/test/**/*.test.ts", "{cli,house}/test/**/*.test.ts"],
          exclude: ["**/*.int.test.ts", "**/node_modules/**"]
        }
      },
      {
        test: {
          ...slow,
          name: "integration",
          include: ["{libs,services}/*/test/**/*.int.test.ts", "{cli,house}/test/**/*.int.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000
        }
      },
      {
        // The suites that need nothing but a broker, once more on a server in a container.
        test: {
          ...slow,
          name: "containers",
          include: ["libs/actor/test/*.int.test.ts", "services/orchestrator/test/race.int.test.ts"],
          env: { REPRISE_TEST_BROKER: "container" },
          testTimeout: 120_000,
          hookTimeout: 120_000
        }
      },
      {
        test: {
          ...slow,
          name: "e2e",
          include: ["test/e2e/**/*.e2e.test.ts", "test/faults/**/*.e2e.test.ts"],
          testTimeout: 300_000,
          hookTimeout: 120_000
        }
      }
    ]
  }
})
