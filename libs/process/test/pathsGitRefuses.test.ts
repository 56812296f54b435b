import { assert, describe, it } from "@effect/vitest"
import { asBytes } from "../src/pathBytes.ts"
import { isRefusedPath } from "../src/pathsGitRefuses.ts"

const [file, link, submodule, folder] = [0o100644, 0o120000, 0o160000, 0o40000]

const refused: ReadonlyArray<readonly [path: string, mode: number]> = [
  ...["", "/etc/passwd", "a//b", "a/", "/", ".", "..", "a/./b", "a/../b", "../a", "a/..", "a/."],
  ...[".git", ".git/hooks/post-checkout", "a/.git/config", ".GIT/x", "a/.gIt"],
  ...["git~1", "GIT~1/hooks/x", ".git /x", ".git.", ".git . ./x", ".git::$INDEX_ALLOCATION/x", "git~1:x"],
  ...["a\\.git\\hooks\\x", "a\\git~1", ".git\\x"],
  ...[".g\u200cit/x", "\ufeff.git", ".gi\u202et/x", "a/.git\u206f"],
  ".git\0x"
].map((path) => [path, file] as const)

const refusedOfKind: ReadonlyArray<readonly [path: string, mode: number]> = [
  [".gitmodules", link],
  ["a/.GITMODULES", link],
  ["gitmod~1", link],
  ["gi7eba~1", link],
  [".gitmodules .", link],
  [".gitm\u200dodules", link],
  [".git/zz", submodule],
  [".reprise/sandbox/caches/x/npm/zz", submodule],
  [".reprise", submodule],
  [".Reprise/x", submodule],
  [".git/", folder],
  ["a//", folder]
]

const allowed: ReadonlyArray<readonly [path: string, mode: number]> = [
  ["a", file],
  [".gitignore", file],
  [".gitmodules", file],
  [".github/workflows/x.yml", file],
  ["a.git/b", file],
  ["x/git~2", file],
  ["git~10", file],
  ["...", file],
  ["a/..b/.c", file],
  ["a\\..\\b", file],
  ["über/ф", file],
  [".reprise/x", file],
  [".reprised", submodule],
  ["vendor/sub", submodule],
  ["gitlink", link],
  ["src/", folder]
]

describe("a path of an entry", () => {
  it.each([...refused, ...refusedOfKind])("is refused as git refuses it: %j (%i)", (path, mode) => {
    assert.isTrue(isRefusedPath(asBytes(path), mode))
  })

  it.each(allowed)("is a file's: %j (%i)", (path, mode) => {
    assert.isFalse(isRefusedPath(asBytes(path), mode))
  })
})
