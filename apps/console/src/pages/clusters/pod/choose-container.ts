import type { Pod } from '@svc/sdk';
import type { SelectOption } from '../../../ui/select.tsx';

/** Returns the pod's default container. */
export function firstContainer({ default_container: named, containers }: Pod): string {
  const usual = containers.find(({ init }) => !init) ?? containers[0];
  return named ?? usual?.name ?? '';
}

export function containerOptions({ containers }: Pod): SelectOption<string>[] {
  return containers.map(({ name, state, init, image }) => ({
    value: name,
    label: init ? `${name} (init)` : name,
    description: [state, image].filter((each) => each !== null).join(', '),
  }));
}
