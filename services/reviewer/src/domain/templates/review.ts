import { template } from "@reprise/plan/template"
import { reviewVariables } from "./variables.ts"

export const review = template({
  name: "review",
  sent: "to a reviewer that does not know the phase yet",
  variables: reviewVariables,
  required: ["commit", "review_path"],
  text: `The author says that this phase is implemented by commit {commit}. The phase began at commit {base}.

1. Read the plan, above all phase {phase}: its tasks, its completion gate and what it leaves out.
2. Read the changes: \`git diff {base}..{commit}\`, and as much of the code around them as you need to judge them.
3. Check what you doubt by running it. Do not change the code, and commit nothing.
4. Write your review to {review_path}.

Judge the changes by these criteria:
- Complete: every task of the phase is done, and nothing that later phases are for.
- Correct: it does what the plan says, also for wrong input, at limits, after errors and when things run side by side.
- Tested: the tests would fail if the behaviour broke.
- Safe: no secrets, no injection, no loss of data.
- In place: it follows the conventions of this codebase, and names and comments say what is true.

Give every finding a short id (R1, R2, …), a title, an action, a reason and a priority.
The action is one of:
- auto_fix: the author can fix it without asking anybody. Prefer this one.
- human_required: it needs a decision that neither the plan nor the code answers, or something only a human can do.
The priority is one of:
- P0: wrong or dangerous; the phase cannot be approved with it.
- P1: to be fixed before the phase is approved.
- P2: worth doing, and no reason to hold the phase up.`
})
