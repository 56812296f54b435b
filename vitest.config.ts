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
