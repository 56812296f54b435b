import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["{libs,services}/*/test/**/*.test.ts", "cli/test/**/*.test.ts"],
          exclude: ["**/*.int.test.ts", "**/node_modules/**"]
        }
      },
      {
        test: {
          name: "integration",
          include: ["{libs,services}/*/test/**/*.int.test.ts", "cli/test/**/*.int.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000
        }
      },
      {
        // The suites that need nothing but a broker, once more on a server in a container.
        test: {
          name: "containers",
          include: ["libs/actor/test/*.int.test.ts", "services/orchestrator/test/race.int.test.ts"],
          env: { REPRISE_TEST_BROKER: "container" },
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false
        }
      },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.e2e.test.ts", "test/faults/**/*.e2e.test.ts"],
          testTimeout: 180_000,
          hookTimeout: 120_000,
          fileParallelism: false
        }
      }
    ]
  }
})
