import { useState } from 'react';
import { CodeBlock } from '../../../ui/code-block.tsx';
import { CopyField } from '../../../ui/copy-field.tsx';
import { FieldStack } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import type { RotatedToken } from '@svc/sdk';

const WAYS = [
  { value: 'helm', label: 'Helm', description: 'Chart with settings for roles, proxies and certificates' },
  { value: 'kubectl', label: 'kubectl', description: 'Plain manifest' },
] as const;

/** How to load the image on each node, if nodes cannot pull it. */
function ImageStep({ image: { command, available } }: { image: NonNullable<RotatedToken['install']['image']> }) {
  const first = available
    ? ''
    : '# The platform has no image yet. Build it there first: svc agent image --data FOLDER\n';
  return <CodeBlock label="Command to load the agent image on each node" text={`${first}${command.trimEnd()}`} />;
}

/** How to install the agent and its token in the cluster. */
export function InstallSteps({ issued: { token, install } }: { issued: RotatedToken }) {
  const [way, setWay] = useState<'helm' | 'kubectl'>('helm');
  return (
    <FieldStack>
      <CopyField label="Agent token" value={token} />
      {install.image !== null && <ImageStep image={install.image} />}
      <Select label="Install with" options={WAYS} value={way} onChange={setWay} />
      <CodeBlock label={way === 'helm' ? 'Commands for Helm' : 'Commands for kubectl'} text={install[way].trimEnd()} />
    </FieldStack>
  );
}
