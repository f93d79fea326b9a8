import { fileURLToPath } from 'node:url';
import { describeRequiring } from '@svc/testing';
import { expect, it } from 'vitest';
import { startClientStore } from './client-store.ts';
import { ensurePython } from './python.ts';

describeRequiring(['python-venv'], 'boto3', () => {
  it('handles transfers, pages, conditions, presigned URLs, forms and versions', async () => {
    expect(await printedBy('boto3-walk.py')).toEqual([
      'transfers',
      'pages',
      'conditions',
      'links',
      'forms',
      'versions',
    ]);
  });

  it('sends each kind of payload signature and checksum, and awkward keys', async () => {
    expect(await printedBy('boto3-signatures.py')).toEqual(['all done']);
  });
});

async function printedBy(name: string): Promise<string[]> {
  const python = await ensurePython(new URL('requirements.txt', import.meta.url));
  const store = await startClientStore();
  try {
    const script = fileURLToPath(new URL(name, import.meta.url));
    const output = await store.run(python, [script], { environment: { S3_ENDPOINT: store.endpoint } });
    return output.trim().split('\n');
  } finally {
    await store.stop();
  }
}
