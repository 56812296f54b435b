import { defineConfig } from "vitest/config"

/** The unit tests of the packages that `npm run mutate` changes. */
const packages = (process.env["REPRISE_MUTATED_PACKAGES"] ?? "").split(",")

export default defineConfig({
  test: {
    isolate: false,
    include: packages.map((name) => `${name}/test/**/*.test.ts`),
    exclude: ["**/*.int.test.ts", "**/node_modules/**"]
  }
})
