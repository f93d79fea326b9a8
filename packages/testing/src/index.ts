export { checkedImage, type CheckedImage } from './checked-image.ts';
export { collectStream } from './collect-stream.ts';
export {
  describeDialects,
  POSTGRES_ONLY_VARIABLE,
  POSTGRES_URL_VARIABLE,
  sqliteRunsHere,
} from './describe-dialects.ts';
export { EventReader, type StreamedEvent } from './event-reader.ts';
export { fakeAccess, type FakeAccess, type FakeCaller } from './fake-access.ts';
export { fakeAudit, type FakeAudit } from './fake-audit.ts';
export { fakeClock, type FakeClock } from './fake-clock.ts';
export { fakeRoleAllows, fakeScopesAllow } from './fake-role-table.ts';
export { describeFuzz, type FuzzTarget } from './fuzz/describe-fuzz.ts';
export { eachRequest } from './fuzz/each-request.ts';
export { orRefusal, orRefusalLater } from './fuzz/or-refusal.ts';
export { freePort } from './free-port.ts';
export { LimitedDisk } from './limited-disk.ts';
export { startNameServer, type NameServer } from './name-server.ts';
export {
  debianPackageOf,
  describeRequiring,
  findChromium,
  findCommand,
  findFullChromium,
  findGo,
  GO_BUILD_FLAGS,
  GO_ENVIRONMENT,
  HEADLESS_SHELL,
  PYTHON_VENV,
  PYTHON_WEBSOCKETS,
  requirement,
  skippedTitle,
  type RequirementName,
} from './requirement.ts';
export { findPostgresPrograms, startPostgres, type PostgresOptions, type PostgresServer } from './postgres-server.ts';
export { retainedBytes } from './retained-bytes.ts';
export { createTestAuthority, type TestAuthority } from './test-authority.ts';
export { selfSignedCertificate } from './self-signed-certificate.ts';
export { temporaryFolder, type TemporaryFolder } from './temporary-folder.ts';
export {
  openMigratedFile,
  postgresSource,
  sqliteSource,
  writeSqliteFile,
  type DatabaseSource,
} from './test-database.ts';
export { waitFor, type WaitOptions } from './wait-for.ts';
export { startCuttableProxy, type CuttableProxy, type CuttableProxyOptions } from './cuttable-proxy.ts';
export { startWebhookReceiver, type ReceivedWebhook, type WebhookReceiver } from './webhook-receiver.ts';
