import { assert, describe, it } from "@effect/vitest"
import { isVersionName, namesVersionsAlone } from "../src/nested/versionFiles.ts"

describe("a file of a version manager", () => {
  it.each([
    ...[".nvmrc", ".node-version", ".python-version", ".python-versions", ".ruby-version", ".sdkmanrc", ".yvmrc"],
    ...["packages/a/.go-version", ".NVMRC"]
  ])("is known by its name: %s", (path) => assert.isTrue(isVersionName(path)))

  it.each(["nvmrc", ".nvmrc.md", "python-version", ".tool-versions", ".version", ".npmrc"])(
    "is not taken for one: %s",
    (path) => assert.isFalse(isVersionName(path))
  )

  it.each([
    ...["20\n", "v22.1.0", "lts/iron", "lts/*", "system", "pypy3.10-7.3.12", "3.12.1\n3.11.4\n", "\uFEFF20\r\n", ""],
    ...["# the one of CI\n20 # LTS\n", "java=21.0.2-tem\ngradle=8.5\n", "1.22.0 1.21.5", "temurin-21.0.1+12.0.LTS"]
  ])("names versions alone: %j", (text) => assert.isTrue(namesVersionsAlone(text)))

  it.each([
    ...["path:./evil", "java=path:./evil", "20\npath:evil", "../../tree/evil", "/home/somebody/evil", "~/evil"],
    ...["lts/../evil", "..", "ref:main", "a/b", "$(evil)", "20;evil", "lts/a/b", "20\u2028path:x"]
  ])("names more than a version: %j", (text) => assert.isFalse(namesVersionsAlone(text)))
})
