import { skippedTitle } from '@svc/testing';
import { describe } from 'vitest';
import { driverContract } from '../../testing/driver-contract.ts';
import { localDriverReason, localSubject } from '../../testing/local-subject.ts';
import { sampleSpec } from '../../testing/sample-spec.ts';

for (const runtime of ['crun', 'runc'] as const) {
  const reason = localDriverReason(runtime);
  const title = `LocalDriver with ${runtime}`;
  describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
    driverContract(async () => {
      const subject = await localSubject(runtime);
      return {
        driver: subject.driver,
        spec: (name) => sampleSpec(`${name}-${runtime}`, { network: 'egress' }),
        dispose: () => subject.dispose(),
      };
    });
  });
}
