/** What is decided about files that git may take for those of a commit. */
import { assert, describe, it } from "@effect/vitest"
import { isConverted, readAttributes, readConversions } from "../src/conversions.ts"
import { hidingFiles, readIgnored } from "../src/selfHiddenFolders.ts"
import { isGitName, unopenedFolders } from "../src/unlistedEntries.ts"

describe("a .gitignore that no commit has", () => {
  const commit = {
    files: new Set(["a/.gitignore", ".venv/x", ".opencode/agent/x.md"]),
    folders: new Set([".", "a", ".venv", ".opencode"])
  }
  it.each([
    ["is none if a commit has it", "a/.gitignore", []],
    ["is none if it is the user's", "/home/me/.config/git/ignore", []],
    ["is none if it is the repository's", ".git/info/exclude", []],
    ["is none in a folder that a tool hides", "b/.pytest_cache/.gitignore", []],
    ...[".complexipy_cache", ".devbox", ".elixir_ls", ".jekyll-cache", ".lexical", ".ruby-lsp"].map(
      (folder) => [`is none in ${folder}`, `b/${folder}/.gitignore`, []] as const
    ),
    ...["htmlcov", "venv"].map(
      (folder) =>
        [
          `counts in ${folder}, which runners of tests enter`,
          `b/${folder}/.gitignore`,
          [`b/${folder}/.gitignore`]
        ] as const
    ),
    ["counts in a repository of another version control", ".jj/.gitignore", [".jj/.gitignore"]],
    ["is none in husky's folder", ".husky/_/.gitignore", []],
    ["is none where OpenCode wrote it", ".opencode/.gitignore", []],
    ["counts beside files of a commit", ".gitignore", [".gitignore"]],
    ["counts in a folder of a tool that a commit has files in", ".venv/.gitignore", [".venv/.gitignore"]],
    ["counts in any other folder", "b/_/.gitignore", ["b/_/.gitignore"]]
  ] as const)("%s", (_, source, counted) => {
    const ignored = readIgnored(`${source}\0${1}\0*\0x\0`)
    assert.deepStrictEqual(ignored, [{ path: "x", source }])
    assert.deepStrictEqual(hidingFiles(ignored, commit), [...counted])
  })
})

describe("what git does not list", () => {
  it.each([
    [".git", true],
    [".GIT", true],
    [".git.", true],
    [".git . .", true],
    [".git::$INDEX_ALLOCATION", true],
    ["GIT~1", true],
    [".g\u200ci\ufefft", true],
    ["git", false],
    [".gitignore", false],
    [".github", false],
    ["x.git", false],
    ["git~2", false]
  ])("takes %j for a repository's own folder: %s", (name, expected) => assert.strictEqual(isGitName(name), expected))

  it.each([
    ["warning: could not open directory 'a b/': Permission denied\n", ["a b"]],
    ["warning: could not open directory 'it's/': File name too long\nwarning: other\n", ["it's"]],
    [`warning: could not open directory '${"d/".repeat(2100)}`, ["d/".repeat(100)]],
    ["warning: could not stat 'x'\n", []],
    ["", []]
  ])("has the folders that git could not open, as its warning %j names them", (stderr, paths) => {
    const told = unopenedFolders(stderr).map(({ path }) => path)
    assert.deepStrictEqual(told, [...paths])
  })
})

describe("a file that git itself may take for another content", () => {
  const plain = { isAutomatic: false, filters: new Set(["lfs"]) }
  it.each([
    ["has no attributes", [], plain, false],
    ["is text", [["text", "set"]], plain, true],
    ["may be text", [["text", "auto"]], plain, true],
    ["is not text", [["text", "unset"]], { ...plain, isAutomatic: true }, false],
    ["has no attributes where git looks for text", [], { ...plain, isAutomatic: true }, true],
    ["has keywords", [["ident", "set"]], plain, true],
    ["has an encoding", [["working-tree-encoding", "UTF-16"]], plain, true],
    [
      "has a filter of the user's",
      [
        ["text", "set"],
        ["filter", "lfs"]
      ],
      plain,
      false
    ],
    [
      "names a filter that the user has not",
      [
        ["text", "set"],
        ["filter", "none"]
      ],
      plain,
      true
    ]
  ] as const)("is asked about if it %s", (_, attributes, configured, expected) => {
    const listed = attributes.map(([name, value]) => `p\0${name}\0${value}\0`).join("")
    const [found = {}] = attributes.length === 0 ? [] : readAttributes(listed, attributes.length)
    assert.strictEqual(isConverted(found, configured), expected)
  })
})

describe("what the user has configured of conversions", () => {
  it.each([
    ["nothing", "", false, []],
    ["no ends of lines", "core.autocrlf\nfalse\0", false, []],
    ["ends of lines", "core.autocrlf\ninput\0", true, []],
    ["ends of lines by the name alone", "core.autocrlf\0", true, []],
    ["the last of several", "core.autocrlf\ntrue\0core.autocrlf\nfalse\0", false, []],
    [
      "filters, whose names may hold points",
      "filter.lfs.clean\ngit-lfs clean -- %f\0filter.lfs.process\nx\0filter.a.b.clean\nrun\0",
      false,
      ["lfs", "a.b"]
    ]
  ])("is read: %s", (_, listed, isAutomatic, filters) => {
    assert.deepStrictEqual(readConversions(listed), { isAutomatic, filters: new Set(filters) })
  })
})
