"""The texts of `.proto` files: tokens, trees and printing."""
