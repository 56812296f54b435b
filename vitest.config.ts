import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { leftOut, longTests } from "./test/harness/longTests.ts"

/** CI runs a part of the long tests for each commit; everybody else runs all of them, or none. */
const notInTurn = leftOut(longTests(import.meta.dirname), process.env["REPRISE_LONG_TESTS"])

/** A limit is there to name a test that hangs. No test may come near it, however busy the machine is. */
const minutes = (count: number) => ({ testTimeout: count * 60_000, hookTimeout: count * 60_000 })

/** Projects of one group run together; the small files of one project fill the gaps that another leaves. */
const group = (groupOrder: number, maxWorkers: number) => ({ maxWorkers, sequence: { groupOrder } })
const pure = group(1, availableParallelism())
/** These tests start processes of their own, and wait for them half of the time. */
const waiting = { ...group(2, Math.ceil(1.5 * availableParallelism())), isolate: false }

/** On agents that no other test needs. `npm test -- agents` installs them, and sets the variable without which they are left out. */
const agents = {
  test: {
    ...waiting,
    ...minutes(15),
    name: "agents",
    globalSetup: ["test/harness/bundle.ts", "test/harness/claude.ts"],
    include: ["{libs/agent/test,test}/agents/*.agents.test.ts"],
    exclude: ["**/node_modules/**"]
  }
}

export default defineConfig({
  test: {
    // `npm test` leaves them out, `npm test -- all` does not.
    tags: [{ name: "long", description: "more than `npm test` can run in seven minutes on two cores" }],
    // A failure says what it compared, and not `[ Array(1) ]`.
    chaiConfig: { truncateThreshold: 0 },
    projects: [
      {
        test: {
          ...pure,
          ...minutes(5),
          name: "unit",
          // The tests share no state, and isolation would double the time for imports.
          isolate: false,
          include: ["{libs,services}/*/test/**/*.test.ts", "{cli/test,console/test,house/test,test}/**/*.test.ts"],
          exclude: [
            "**/*.int.test.ts",
            "**/*.e2e.test.ts",
            "**/*.agents.test.ts",
            "**/fixtures/**",
            "**/node_modules/**"
          ]
        }
      },
      {
        test: {
          ...waiting,
          ...minutes(15),
          name: "integration",
          globalSetup: "test/harness/claude.ts",
          include: ["{libs,services}/*/test/**/*.int.test.ts", "{cli/test,house/test,test}/**/*.int.test.ts"],
          exclude: ["test/containers/**", "**/node_modules/**", ...notInTurn]
        }
      },
      {
        // What runs in containers; and the suites that need only a broker, once more on a server in a container.
        test: {
          ...waiting,
          ...minutes(15),
          name: "containers",
          globalSetup: "libs/testing/src/containers/sharedEngine.ts",
          include: [
            "libs/actor/test/*.int.test.ts",
            "services/orchestrator/test/race.int.test.ts",
            "test/containers/*.int.test.ts"
          ],
          exclude: ["**/node_modules/**", ...notInTurn],
          env: { REPRISE_TEST_BROKER: "container" }
        }
      },
      {
        test: {
          ...waiting,
          ...minutes(15),
          name: "e2e",
          globalSetup: ["test/harness/claude.ts", "test/harness/bundle.ts", "test/harness/sharedOpenCode.ts"],
          include: ["test/e2e/**/*.e2e.test.ts", "test/faults/**/*.e2e.test.ts", "test/storm/**/*.e2e.test.ts"],
          exclude: ["**/node_modules/**", ...notInTurn]
        }
      },
      ...(process.env["REPRISE_TEST_AGENTS"] === undefined ? [] : [agents])
    ]
  }
})
