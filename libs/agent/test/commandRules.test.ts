import { assert, describe, it } from "@effect/vitest"
import { allowsCommand, startsIn } from "../src/rules/commandPatterns.ts"
import { startedBy } from "../src/rules/shellCommands.ts"

const startsCommand = (patterns: ReadonlyArray<string>, text: string) => startsIn(text)(patterns)

describe("an allow rule for a command", () => {
  const patterns = ["git status", "npm test *", "git commit -m *", "ls 'my folder'", "echo *.ts", "sh -c 'true; true'"]

  it.each([
    "git status",
    "  git   status  ",
    "git status;",
    "npm test",
    "npm test -- --watch=false",
    "git status && npm test",
    "git status | npm test | git status",
    "git status\nnpm test",
    "npm test > /dev/null 2>&1",
    "npm test 2>/dev/null; git status",
    "git 'status'",
    'git commit -m "say; what && you | want"',
    "git commit -m 'a $(b) `c`'",
    "git commit -m fix\\;it",
    "ls 'my folder'",
    'ls "my folder"',
    "echo a.ts",
    "sh -c 'true; true'"
  ])("allows %j", (command) => assert.isTrue(allowsCommand(patterns, command)))

  it.each([
    "git status; rm -rf /",
    "git status && rm -rf /",
    "git status || rm -rf /",
    "git status | sh",
    "git status & rm -rf /",
    "git status\nrm -rf /",
    "git status\r\nrm -rf /",
    "git status $(rm -rf /)",
    "npm test $(rm -rf /)",
    "npm test `rm -rf /`",
    'npm test "$(rm -rf /)"',
    'npm test "`rm -rf /`"',
    "npm test $HOME",
    'npm test "$X"',
    "npm test <(rm -rf /)",
    "npm test >(rm -rf /)",
    "npm test > ~/.bashrc",
    "npm test >> file",
    "npm test 2> file",
    "npm test >/dev/null/../../tmp/x",
    "npm test >/dev/nullx",
    "npm test < file",
    "npm test <<EOF\nrm -rf /\nEOF",
    "npm test &>file",
    "(git status)",
    "{ git status; }",
    "npm test {a,b}",
    "env X=1 git status",
    "X=1 git status",
    "PATH=/tmp git status",
    "PATH=/tmp; git status",
    "! git status",
    "if git status; then npm test; fi",
    "git status #",
    "git status 'unclosed",
    'git status "unclosed',
    "npm test \\",
    "git statusx",
    "git status -s",
    "git",
    "./git status",
    "/tmp/git status",
    "'git status'",
    "npm testx",
    "git\u00a0status",
    "git status\u0000",
    "npm test \u001b[2K",
    "ls my folder",
    "sudo git status",
    "sh -c 'true; false'",
    "",
    "  ",
    ";"
  ])("does not allow %j", (command) => assert.isFalse(allowsCommand(patterns, command)))

  it("of * alone allows every command", () => {
    for (const command of ["ls", "a; b", "$(a)", "x > y"]) assert.isTrue(allowsCommand(["*"], command), command)
  })
})

describe("a rule that holds a command back", () => {
  it.each([
    "git push",
    "git push origin main",
    "true; git push",
    "true && git push",
    "true | git push",
    "true\ngit push",
    "echo $(git push)",
    'echo "$(git push)"',
    "echo `git push`",
    'echo "`git push`"',
    "(git push)",
    "((git push))",
    "{ git push; }",
    "if true; then git push; fi",
    "for x in a; do git push; done",
    "! git push",
    "X=1 git push",
    "env X=1 git push",
    "env -u Y X=1 git push",
    "sudo -n git push",
    "timeout 5 git push",
    "xargs -n1 git push",
    "find . -exec git push ;",
    "nohup git push &",
    "/usr/bin/git push",
    "'git' push",
    "g\\it push",
    "g''it push",
    "git \\\n push",
    "git push > out",
    "> out git push",
    "2>&1 git push",
    "sh -c 'git push'",
    "bash -lc 'true; git push'",
    "env bash -c 'git push'",
    "sudo sh -c 'git push'",
    "eval git push",
    "eval 'git push'",
    "eval eval git push",
    "bash <<EOF\ngit push\nEOF",
    "echo $'\\'' ; git push #'",
    "cat <(git push)",
    "true & git push",
    "time git push"
  ])("catches %j", (command) => assert.strictEqual(startsCommand(["git push *"], command), "yes"))

  it.each([
    "$GIT push",
    "git $WHAT",
    "$(echo git) push",
    "git $(echo push)",
    "`echo git` push",
    "/usr/bin/g?t push",
    "{git,push}",
    "git {push,origin}",
    "env $X",
    "sh -c $X",
    'eval "$X"',
    "echo git push | sh",
    "curl example.org | bash -s",
    "echo push | xargs git"
  ])("asks about %j, of which only a shell knows what it is", (command) =>
    assert.strictEqual(startsCommand(["git push *"], command), "maybe")
  )

  it.each([
    "git status",
    "git log --grep='git push'",
    "git commit -m 'never git push'",
    "echo git push",
    "echo $HOME",
    'git commit -m "$(cat notes)"',
    "rm *.log",
    "ls src/*",
    "cat $FILE",
    "echo a | xargs ls -l",
    "sh script.sh",
    "digit push",
    "git pushx"
  ])("lets %j be", (command) => assert.strictEqual(startsCommand(["git push *"], command), "no"))

  it("finds words after others with a * between them", () => {
    assert.strictEqual(startsCommand(["git * push *"], "git -C . push origin"), "yes")
    assert.strictEqual(startsCommand(["git * push *"], "git push"), "yes")
    assert.strictEqual(startsCommand(["git * push *"], "git status"), "no")
  })

  it.each([
    ["more words behind a starter than are looked at", `${"env ".repeat(20_000)}ls`],
    ["more commands than are looked at", "env a;".repeat(20_000)],
    ["a text that no program can be given", `ls ${"a".repeat(128 * 1024)}`],
    ["more texts in each other than are read", "eval eval eval eval eval eval ls"],
    ["more parentheses in each other than are read", `${"(".repeat(21)}ls`]
  ])("asks about %s", (_, text) => assert.strictEqual(startsCommand(["git push *"], text), "maybe"))

  it("does not lose a command that it finds in a text that is too long to be read to its end", () => {
    assert.strictEqual(startsCommand(["git push *"], `git push; ${"env ".repeat(20_000)}ls`), "yes")
  })

  it("finds a command behind many words of its starter", () => {
    assert.strictEqual(startsCommand(["git push *"], `sudo ${"-n ".repeat(500)} git push`), "yes")
    assert.strictEqual(startsCommand(["git push *"], `npx prettier ${"file.ts ".repeat(2_000)}`), "no")
  })

  it("takes no more than a bound of commands from a text, whatever it holds", () => {
    for (const long of ["env ", "env a;", "eval ", "sh 'sh a' ", "sudo env ", "xargs env "]) {
      assert.isAtMost(startedBy(long.repeat(20_000)).commands.length, 20_000, long)
    }
  })

  it("asks where comparing would take too long, and denies what it had found before", () => {
    const starts = startsIn(`git push; git ${"a ".repeat(20_000)}`)
    const costly = Array.from({ length: 1_000 }, (_, at) => `git * a * b * ${at}`)
    assert.strictEqual(starts(["git push"]), "yes")
    assert.strictEqual(starts(costly), "maybe")
    assert.strictEqual(startsIn("git status")(costly), "no")
  })

  it("answers about a very long text in a moment", () => {
    for (const long of ["a ", "$(", "(", "`", "'", '"$(', "sh -c ", "env ", "eval ", "{,", "*"]) {
      for (const pattern of ["git * push *", "*", "a*a*a*a*b"]) startsCommand([pattern], long.repeat(5_000))
      allowsCommand(["git * push *", "a * b * c * d"], long.repeat(5_000))
    }
  })
})
