/** Commands of git's configuration and hooks by which files of a working tree decide what runs. */
import { assert, describe, it } from "@effect/vitest"
import { lookupIn } from "../src/git/treePrograms.ts"

describe("a command of git's", () => {
  it.each([
    ["npx lint-staged", "npx"],
    ["!npx --no-install commitlint --edit $1", "npx"],
    ["npx npm-merge-driver merge %A %O %B %P", "npx"],
    ["python -m nbstripout", "python -m"],
    ["python3.12 -E -m nbstripout -t", "python3.12 -m"],
    ["sh -c 'cd tools && npm run clean'", "npm run"],
    ['exec "$INSTALL_PYTHON" -mpre_commit "$@"', "pre_commit"],
    ["/usr/bin/env bundle exec rubocop", "bundle exec"],
    ["test -f x && make lint", "make"],
    ["node_modules/.bin/lint-staged", "lint-staged"],
    ["lefthook run pre-commit", "lefthook"]
  ])("looks in the tree for what it runs: %s", (command, word) => {
    assert.strictEqual(lookupIn(command), word)
  })

  it.each([
    ["git-lfs filter-process"],
    ["git-lfs smudge -- %f"],
    ["!gh auth git-credential"],
    ["/usr/bin/gpg2"],
    ["ssh -i ~/.ssh/work -o IdentitiesOnly=yes"],
    ["code --wait"],
    ["delta --features make-up"],
    ["vim -c 'set makeprg='"],
    ["npm-groovy"],
    ["echo 'This is just a task to make, remove it'"],
    ["python /opt/tools/clean.py"]
  ])("does not: %s", (command) => {
    assert.isUndefined(lookupIn(command))
  })
})
