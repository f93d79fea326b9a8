import { fileURLToPath } from 'node:url';
import { describeRequiring } from '@svc/testing';
import { expect, it } from 'vitest';
import { startClientStore } from './client-store.ts';
import { ensurePython } from './python.ts';

describeRequiring(['python-venv'], 'boto3', () => {
  it('walks through transfers, pages, conditions, links, forms and versions', async () => {
    const python = await ensurePython(new URL('requirements.txt', import.meta.url));
    const store = await startClientStore();
    try {
      const script = fileURLToPath(new URL('boto3-walk.py', import.meta.url));
      const output = await store.run(python, [script], { environment: { S3_ENDPOINT: store.endpoint } });
      expect(output.trim().split('\n')).toEqual(['transfers', 'pages', 'conditions', 'links', 'forms', 'versions']);
    } finally {
      await store.stop();
    }
  });
});
