/** Whether the tools that some tests run are missing. `npm ci` leaves them out; those tests are skipped then, and say so. */
import { lacksTools } from "../../src/installTools.ts"

export const lacking = lacksTools()

if (lacking) {
  process.stderr.write(
    "Tests of the lint and of the boundaries are skipped: `npm ci --prefix house/tools` installs their tools (425 MB).\n"
  )
}
