import { useState } from 'react';
import { CodeBlock } from '../../../ui/code-block.tsx';
import { CopyField } from '../../../ui/copy-field.tsx';
import { FieldStack } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import type { RotatedToken } from '@svc/sdk';

const WAYS = [
  { value: 'helm', label: 'Helm', description: 'A chart with settings for roles, proxies and certificates' },
  { value: 'kubectl', label: 'kubectl', description: 'A plain manifest' },
] as const;

/** Where nodes cannot pull the image: how each of them gets it. */
function ImageStep({ image: { command, available } }: { image: NonNullable<RotatedToken['install']['image']> }) {
  const first = available ? '' : '# the platform has no image yet; on its machine: svc agent image --data FOLDER\n';
  return <CodeBlock label="the agent’s image, first on each node" text={`${first}${command.trimEnd()}`} />;
}

/** How an agent gets its token and into its cluster. */
export function InstallSteps({ issued: { token, install } }: { issued: RotatedToken }) {
  const [way, setWay] = useState<'helm' | 'kubectl'>('helm');
  return (
    <FieldStack>
      <CopyField label="Token of the agent" value={token} />
      {install.image !== null && <ImageStep image={install.image} />}
      <Select label="Install with" options={WAYS} value={way} onChange={setWay} />
      <CodeBlock label={way === 'helm' ? 'commands for Helm' : 'commands for kubectl'} text={install[way].trimEnd()} />
    </FieldStack>
  );
}
