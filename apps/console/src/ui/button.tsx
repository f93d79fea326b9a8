import type { ComponentProps, ReactNode } from 'react';
import styles from './button.module.css';
import { classNames } from './class-names.ts';

export interface ButtonLook {
  variant?: 'primary' | 'secondary' | 'ghost' | 'danger';
  size?: 'normal' | 'small';
}

/** Returns the class names of a button, for links that look like one. */
export function buttonClass({ variant = 'secondary', size = 'normal' }: ButtonLook = {}): string {
  return classNames(styles['button'], styles[variant], size === 'small' && styles['small']);
}

export interface ButtonProps extends ComponentProps<'button'>, ButtonLook {
  icon?: ReactNode;
  /** An action is in progress: the button keeps its size and focus, and ignores clicks. */
  pending?: boolean;
}

export function Button({ variant, size, icon, pending = false, children, className, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={classNames(
        buttonClass({ ...(variant && { variant }), ...(size && { size }) }),
        pending && styles['pending'],
        className,
      )}
      aria-disabled={pending || undefined}
      onClick={(event) => {
        if (pending) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {icon}
      <span className={styles['label']}>{children}</span>
    </button>
  );
}

export interface IconButtonProps extends ComponentProps<'button'> {
  /** Accessible name and tooltip. */
  label: string;
  size?: 'normal' | 'small';
}

export function IconButton({ label, size = 'normal', className, children, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      title={label}
      aria-label={label}
      {...rest}
      className={classNames(styles['iconButton'], size === 'small' && styles['iconSmall'], className)}
    >
      {children}
    </button>
  );
}
