// PyTorch's headers of compiled programs include this one. They use nothing of it outside macros.
#pragma once
