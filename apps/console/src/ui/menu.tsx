import { Menu as BaseMenu } from '@base-ui/react/menu';
import type { ComponentProps, ReactElement, ReactNode } from 'react';
import { classNames } from './class-names.ts';
import styles from './menu.module.css';

export interface MenuProps {
  /** The button that opens the menu; receives its attributes and handlers. */
  trigger: ReactElement;
  children: ReactNode;
  side?: 'top' | 'bottom';
  align?: 'start' | 'end';
  width?: 'content' | 'trigger';
  defaultOpen?: boolean;
}

export function Menu(props: MenuProps) {
  const { trigger, children, side = 'bottom', align = 'start', width = 'content', defaultOpen = false } = props;
  return (
    <BaseMenu.Root defaultOpen={defaultOpen}>
      <BaseMenu.Trigger render={trigger} />
      <BaseMenu.Portal>
        {/* Fixed: an absolute one makes the page longer for a moment, and the focus then scrolls it. */}
        <BaseMenu.Positioner
          className={styles['positioner']}
          positionMethod="fixed"
          side={side}
          align={align}
          sideOffset={4}
        >
          <BaseMenu.Popup className={classNames(styles['popup'], width === 'trigger' && styles['wide'])}>
            {children}
          </BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  );
}

export interface MenuItemProps extends ComponentProps<typeof BaseMenu.Item> {
  icon?: ReactNode;
  /** Content at the end of the row: a shortcut or a mark. */
  trailing?: ReactNode;
  tone?: 'normal' | 'danger';
}

export function MenuItem({ icon, trailing, tone = 'normal', children, ...rest }: MenuItemProps) {
  return (
    <BaseMenu.Item {...rest} className={classNames(styles['item'], tone === 'danger' && styles['danger'])}>
      {icon !== undefined && <span className={styles['icon']}>{icon}</span>}
      <span className={styles['text']}>{children}</span>
      {trailing}
    </BaseMenu.Item>
  );
}

export function MenuGroup({ label, children }: { label: string; children: ReactNode }) {
  return (
    <BaseMenu.Group>
      <BaseMenu.GroupLabel className={styles['groupLabel']}>{label}</BaseMenu.GroupLabel>
      {children}
    </BaseMenu.Group>
  );
}

export function MenuSeparator() {
  return <BaseMenu.Separator className={styles['separator']} />;
}

export interface MenuChoice<Value extends string> {
  value: Value;
  label: string;
  icon: ReactNode;
}

export interface MenuChoicesProps<Value extends string> {
  label: string;
  value: Value;
  choices: readonly MenuChoice<Value>[];
  onChange: (value: Value) => void;
}

/** A choice such as the theme; the menu stays open to show the effect. */
export function MenuChoices<Value extends string>({ label, value, choices, onChange }: MenuChoicesProps<Value>) {
  return (
    <BaseMenu.Group>
      <BaseMenu.GroupLabel className={styles['groupLabel']}>{label}</BaseMenu.GroupLabel>
      <BaseMenu.RadioGroup value={value} onValueChange={onChange} className={styles['choices']}>
        {choices.map((choice) => (
          <BaseMenu.RadioItem key={choice.value} value={choice.value} closeOnClick={false} className={styles['choice']}>
            {choice.icon}
            {choice.label}
          </BaseMenu.RadioItem>
        ))}
      </BaseMenu.RadioGroup>
    </BaseMenu.Group>
  );
}
