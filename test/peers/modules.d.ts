/** What only `npm run bench peers` installs: nothing of it is there when types are checked. */
declare module "@dbos-inc/dbos-sdk"
declare module "@restatedev/restate-sdk"
declare module "bullmq"
