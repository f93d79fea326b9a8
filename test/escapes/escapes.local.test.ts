import { skippedTitle, requirement } from '@svc/testing';
import { localDriverReason, localSubject } from '@svc/sandboxes/testing/local-subject';
import { sampleSpec } from '@svc/sandboxes/testing/sample-spec';
import { describe } from 'vitest';
import { escapeTable } from './escape-table.ts';
import { ESCAPE_REQUIREMENTS } from './requirements.ts';

const reason = localDriverReason() ?? requirement(...ESCAPE_REQUIREMENTS);
const title = 'the escape table on the local driver';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  escapeTable(
    async () => {
      const { driver, again, dispose } = await localSubject();
      return {
        driver,
        spec: (name) => sampleSpec(name),
        config: { driver: 'local', isolation: 'namespaces' },
        again,
        dispose,
      };
    },
    { count: 20_000, diskMb: 64 },
  );
});
