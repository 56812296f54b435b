import { assert, it } from "@effect/vitest"
import { directoryError } from "../src/embedded/StateDirectory.ts"

it.each([
  ["ENOSPC", "DiskFull"],
  ["EDQUOT", "DiskFull"],
  ["EACCES", "DirectoryUnusable"],
  ["EROFS", "DirectoryUnusable"],
  ["ENOTDIR", "DirectoryUnusable"]
])("classifies the file system's %s as %s", (code, tag) => {
  const error = directoryError("/home/me/.reprise", Object.assign(new Error(code), { code }))
  assert.strictEqual(error._tag, tag)
  assert.include(error.message, "/home/me/.reprise")
})
